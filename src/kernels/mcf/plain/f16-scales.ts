// f16 scales: never subnormal, because readers disagree about those. The search works on magnitudes, without the sign bit.

export const smallestF16 = 2 ** -14
export const largestF16 = 65504
export const infiniteF16 = 0x7c00
export const negative = 0x8000
const rebase = 112 << 23

const floats = new Float32Array(1)
const patterns = new Uint32Array(floats.buffer)

function bitsOf(value: number): number {
  floats[0] = value
  return patterns[0]!
}

/** To nearest even; for values from 2^-14 on. `infiniteF16` and more means that the value is too large. */
export function nearestF16(value: number): number {
  const bits = bitsOf(value) - rebase
  return (bits + 0xfff + ((bits >>> 13) & 1)) >>> 13
}

/** Truncated, as the reference program does it: too small gives 0, too large infinity. */
export function truncatedF16(value: number): number {
  if (value < smallestF16) return 0
  return value >= 65536 ? infiniteF16 : (bitsOf(value) - rebase) >>> 13
}

/** For magnitudes of scales: 0, or normal. */
export function f16Value(code: number): number {
  if (code === 0) return 0
  patterns[0] = (code << 13) + rebase
  return floats[0]!
}

function scaleOf(code: number): number {
  return code < negative ? f16Value(code) : -f16Value(code - negative)
}

/** The scale of every block of q* from the stored f16 codes. */
export function expandBlocks(scales: Uint16Array, target: Float32Array): void {
  for (let i = 0; i < scales.length; i++) target[i] = scaleOf(scales[i]!)
}

/** The same for k*, for rows of `perRow` blocks. */
export function expandSupers(perRow: number, supers: Uint16Array, subScales: Uint8Array, target: Float32Array): void {
  let at = 0
  for (let first = 0; first < subScales.length; first += perRow) {
    for (let i = 0; i < perRow; i++) {
      target[first + i] = scaleOf(supers[at]!) * (subScales[first + i]! / 32)
      if (i % 8 === 7 || i === perRow - 1) at++
    }
  }
}
