// Searching a file for bytes: a text, or a pattern such as `47 47 55 46`. The file is read in pieces that overlap by the length of the
// pattern; the search ends when it is cancelled, at the first hit, or where it began.
import type { ByteSource } from 'tare'

export interface FindOptions {
  readonly from: number
  readonly isBackward: boolean
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((done: number) => void) | undefined
}

const pieceBytes = 4 << 20

/** Hexadecimal if it is written as `0x…` or as pairs of digits with spaces; otherwise the text in UTF-8. Undefined for nothing. */
export function parsePattern(text: string): Uint8Array | undefined {
  const digits =
    /^0x([0-9a-f]{2}(?:\s?[0-9a-f]{2})*)$/i.exec(text.trim())?.[1] ??
    /^[0-9a-f]{2}(?: [0-9a-f]{2})+$/i.exec(text.trim())?.[0]
  const bytes = digits
    ? Uint8Array.from(digits.replace(/\s/g, '').match(/../g)!, (pair) => Number.parseInt(pair, 16))
    : new TextEncoder().encode(text)
  return bytes.byteLength === 0 ? undefined : bytes
}

/** Forward from a byte to the end of the file, or backward to its start. Undefined where there is none. */
export async function findBytes(
  source: ByteSource,
  pattern: Uint8Array,
  options: FindOptions,
): Promise<number | undefined> {
  const { from, isBackward, signal, onProgress } = options
  const overlap = pattern.byteLength - 1
  let at = isBackward ? Math.min(from, source.size - 1) : from
  let done = 0
  while (isBackward ? at >= 0 : at + overlap < source.size) {
    const start = isBackward ? Math.max(0, at - pieceBytes + 1) : at
    const end = Math.min(source.size, (isBackward ? at + 1 : at + pieceBytes) + overlap)
    const bytes = await source.read(start, end - start, { signal })
    const hit = isBackward ? lastIn(bytes, pattern) : firstIn(bytes, pattern)
    if (hit >= 0) return start + hit
    done += end - start - overlap
    onProgress?.(done)
    at = isBackward ? start - 1 : at + pieceBytes
  }
  return undefined
}

/** `indexOf` skips to candidates at the speed of memory. */
function firstIn(bytes: Uint8Array, pattern: Uint8Array): number {
  for (let at = bytes.indexOf(pattern[0]!); at >= 0; at = bytes.indexOf(pattern[0]!, at + 1)) {
    if (at + pattern.byteLength > bytes.byteLength) return -1
    if (isAt(bytes, pattern, at)) return at
  }
  return -1
}

function lastIn(bytes: Uint8Array, pattern: Uint8Array): number {
  const last = bytes.byteLength - pattern.byteLength
  if (last < 0) return -1
  for (
    let at = bytes.lastIndexOf(pattern[0]!, last);
    at >= 0;
    at = at === 0 ? -1 : bytes.lastIndexOf(pattern[0]!, at - 1)
  )
    if (isAt(bytes, pattern, at)) return at
  return -1
}

function isAt(bytes: Uint8Array, pattern: Uint8Array, at: number): boolean {
  for (let i = 1; i < pattern.byteLength; i++) if (bytes[at + i] !== pattern[i]) return false
  return true
}
