// The difference of two payloads, bit by bit, as a stream of windows.
import { defaultWindow } from '../bytes/index.js'
import type { Payload } from '../model/index.js'

/** A window of the difference; `bytes` is overwritten by the next one. */
export interface XorWindow {
  readonly bytes: Uint8Array
  /** Nothing differs in it. */
  readonly isZero: boolean
}

export interface XorOptions {
  /** Sees the bytes of each side on the way. */
  readonly onBase?: ((bytes: Uint8Array) => void) | undefined
  readonly onNext?: ((bytes: Uint8Array) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** What is behind the end of the base counts as zeros; the base must not be longer. */
export async function* xorWindows(
  base: Payload | undefined,
  next: Payload,
  { onBase, onNext, signal }: XorOptions = {},
): AsyncGenerator<XorWindow, void, void> {
  const target = new Uint8Array(Math.min(defaultWindow, next.byteLength))
  const other = base?.chunks(defaultWindow, signal)[Symbol.asyncIterator]()
  try {
    for await (const chunk of next.chunks(defaultWindow, signal)) {
      const bytes = target.subarray(0, chunk.byteLength)
      bytes.set(chunk)
      onNext?.(bytes)
      const old = await other?.next()
      const before = old?.done ? undefined : old?.value
      if (before) onBase?.(before)
      yield { bytes, isZero: xorInto(bytes, before) }
    }
  } finally {
    await other?.return?.()
  }
}

/** `target` ^= `bytes`, which may be shorter; whether nothing but zeros is left. `target` must start its buffer. */
export function xorInto(target: Uint8Array, bytes: Uint8Array = new Uint8Array(0)): boolean {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes)
  const words = Math.floor(bytes.byteLength / 4)
  const to = new Int32Array(target.buffer, target.byteOffset, words)
  const from = new Int32Array(aligned.buffer, aligned.byteOffset, words)
  let any = 0
  for (let i = 0; i < words; i++) {
    const value = to[i]! ^ from[i]!
    to[i] = value
    any |= value
  }
  for (let i = words * 4; i < target.byteLength; i++) {
    if (i < bytes.byteLength) target[i]! ^= bytes[i]!
    any |= target[i]!
  }
  return any === 0
}

/** The windows of a difference as plain bytes. */
export async function* bytesOf(windows: AsyncIterable<XorWindow>): AsyncGenerator<Uint8Array, void, void> {
  for await (const { bytes } of windows) yield bytes
}
