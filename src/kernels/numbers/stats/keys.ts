// The order of numbers by their bits. The median is found without sorting: the bits of a number are cut into digits of 16 bits, a first pass
// counts the top digits, and each later pass counts the next digit of those numbers that share the digits found so far. Digits are
// counted as they are stored; only the walk over the counts follows the order of the numbers:
//   u32       ascending
//   i32       0x8000..0xffff (negative), then 0..0x7fff
//   f32, f64  sign and magnitude: 0xffff down to 0x8000 (negative), then 0..0x7fff; lower digits of negative numbers run downwards too

/** How the bits of a value are read; 32-bit integers travel as f64, since f32 cannot hold them. */
export type KeyKind = 'f32' | 'f64' | 'i32' | 'u32'

/** The number of values of a digit. */
export const digitRange = 65_536

export const digitsOf = (kind: KeyKind): number => (kind === 'f64' ? 4 : 2)

/** Ranges of digits, each from the first to the last one, ascending or descending. */
export type DigitOrder = readonly (readonly [first: number, last: number])[]

const ascending: DigitOrder = [[0, 0xffff]]
const descending: DigitOrder = [[0xffff, 0]]
const topOrders: Readonly<Record<KeyKind, DigitOrder>> = {
  u32: ascending,
  i32: [
    [0x8000, 0xffff],
    [0, 0x7fff],
  ],
  f32: [
    [0xff7f, 0x8000],
    [0, 0x7f7f],
  ],
  f64: [
    [0xffef, 0x8000],
    [0, 0x7fef],
  ],
}

/** The top digits of all finite numbers, in the order of the numbers. */
export const topOrder = (kind: KeyKind): DigitOrder => topOrders[kind]

/** Whether larger lower digits mean smaller numbers: below zero, where there is a sign bit. */
const isDescending = (kind: KeyKind, top: number): boolean => (kind === 'f32' || kind === 'f64') && top >= 0x8000

/** The order of a lower digit, for numbers with this top digit. */
export const lowerOrder = (kind: KeyKind, top: number): DigitOrder => (isDescending(kind, top) ? descending : ascending)

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

/** The smallest number with this top digit. */
export const lowestOf = (kind: KeyKind, top: number): number =>
  numberWith(kind, top, isDescending(kind, top) ? 0xffff : 0)

/** The largest number with this top digit. */
export const highestOf = (kind: KeyKind, top: number): number =>
  numberWith(kind, top, isDescending(kind, top) ? 0 : 0xffff)

/** The number with this top digit, all others being `fill`. */
function numberWith(kind: KeyKind, top: number, fill: number): number {
  const word = top * digitRange + fill
  if (kind === 'u32') return word
  if (kind === 'i32') return word | 0
  words[0] = kind === 'f32' ? word : fill * digitRange + fill
  words[1] = word
  return kind === 'f32' ? asF32[0]! : asF64[0]!
}
