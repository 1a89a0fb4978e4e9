// The bytes at a place as every element type that tare knows, and as text.
import { type DType, dtypes } from 'tare/kit'

export interface ReadValue {
  readonly type: string
  readonly text: string
}

/** Types with one or more whole values in a few bytes; blocks mean nothing alone. */
const plainTypes: readonly DType[] = [...dtypes.values()].filter(
  ({ kind, group, codec }) => codec && kind !== 'block' && kind !== 'opaque' && group.bytes <= 16,
)

/** `bytes` start at the place; types that need more of them are left out. Big-endian reverses each value. */
export function readValues(bytes: Uint8Array, isBigEndian = false): ReadValue[] {
  const values: ReadValue[] = []
  for (const { id, kind, group, codec, part } of plainTypes) {
    if (group.bytes > bytes.byteLength) continue
    const own = bytes.slice(0, group.bytes)
    if (isBigEndian) swap(own, part ? group.bytes / 2 : group.bytes)
    // f32 and smaller: a number that rounds to it says all that its bits do.
    const isShort = kind === 'float' && group.bytes / group.elements <= 4
    const each = Array.from({ length: group.elements }, (_, i) => scalarText(codec!.element(own, i), isShort))
    values.push({ type: id, text: each.join(' ') })
  }
  const text = utf8At(bytes)
  if (text !== '') values.push({ type: 'utf-8', text })
  return values
}

function swap(bytes: Uint8Array, size: number): void {
  for (let at = 0; at < bytes.byteLength; at += size) bytes.subarray(at, at + size).reverse()
}

function scalarText(value: unknown, isShort = false): string {
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(isShort ? shortest(value) : value)
  if (typeof value === 'object' && value !== null)
    return `${Object.values(value)
      .map((part) => scalarText(part))
      .join(' + ')} i`
  return String(value)
}

/** The number with the fewest digits that is the same f32. */
function shortest(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return short
  }
  return value
}

/** As far as it is text. */
function utf8At(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes)
  return /^[^\u0000-\u001f\u007f\ufffd]*/.exec(text)?.[0] ?? ''
}
