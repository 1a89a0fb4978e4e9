// Numbers sorted by their bits. The median is found without sorting: the bits of a number are cut into digits of 16 bits, a first pass
// counts the top digits, and each later pass counts the next digit of those numbers that share the digits found so far. Digits are
// counted as they stand in memory; only walking over the counts puts them in the order of the numbers:
//   u32       ascending
//   i32       0x8000..0xffff (negative), then 0..0x7fff
//   f32, f64  sign and magnitude: 0xffff down to 0x8000 (negative), then 0..0x7fff; lower digits of negative numbers run downwards too

/** How the bits of a value are read; 32-bit integers travel as f64, since f32 cannot hold them. */
export type KeyKind = 'f32' | 'f64' | 'i32' | 'u32'

/** How many different values a digit has. */
export const digitRange = 65_536

export const digitsOf = (kind: KeyKind): number => (kind === 'f64' ? 4 : 2)

// The orders are made when they are first needed: a command that computes no statistics should not pay for them.
let orders: Readonly<Record<KeyKind | 'ascending' | 'descending', Uint16Array>> | undefined

function digitOrders(): NonNullable<typeof orders> {
  if (orders) return orders
  const ascending = Uint16Array.from({ length: digitRange }, (_, i) => i)
  const descending = ascending.slice().reverse()
  const finiteFloats = (firstInfinite: number): Uint16Array => {
    const finite = new Uint16Array(2 * firstInfinite)
    finite.set(descending.subarray(digitRange - 0x8000 - firstInfinite, digitRange - 0x8000))
    finite.set(ascending.subarray(0, firstInfinite), firstInfinite)
    return finite
  }
  orders = {
    ascending,
    descending,
    u32: ascending,
    i32: Uint16Array.from(ascending, (i) => (i + 0x8000) % digitRange),
    f32: finiteFloats(0x7f80),
    f64: finiteFloats(0x7ff0),
  }
  return orders
}

/** The top digits of all finite numbers, in the order of the numbers. */
export const topOrder = (kind: KeyKind): Uint16Array => digitOrders()[kind]

/** The order of a lower digit, for numbers with this top digit. */
export function lowerOrder(kind: KeyKind, top: number): Uint16Array {
  const isFloat = kind === 'f32' || kind === 'f64'
  return isFloat && top >= 0x8000 ? digitOrders().descending : digitOrders().ascending
}

const words = new Uint32Array(2)
const asF32 = new Float32Array(words.buffer, 0, 1)
const asF64 = new Float64Array(words.buffer)

/** The number with these digits, top first; digits that are not given are `fill`. */
export function numberOf(kind: KeyKind, digits: readonly number[], fill = 0): number {
  const word = (at: number): number => (digits[at] ?? fill) * digitRange + (digits[at + 1] ?? fill)
  if (kind === 'u32') return word(0)
  if (kind === 'i32') return word(0) | 0
  if (kind === 'f32') {
    words[0] = word(0)
    return asF32[0]!
  }
  words[1] = word(0)
  words[0] = word(2)
  return asF64[0]!
}

/** The smallest and the largest number with this top digit. */
export function boundsOf(kind: KeyKind, top: number): readonly [low: number, high: number] {
  const near = numberOf(kind, [top], 0)
  const far = numberOf(kind, [top], 0xffff)
  return lowerOrder(kind, top) === digitOrders().descending ? [far, near] : [near, far]
}
