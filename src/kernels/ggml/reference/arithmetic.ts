// Arithmetic as ggml's quantizers do it on machines without fused multiply-add: every operation rounds to f32, sums run from the first
// element to the last.

const { fround } = Math

const float = new Float32Array(1)
const bits = new Int32Array(float.buffer)

/**
 * The nearest integer, halves to even, of an f32. Adding 1.5 * 2^23 leaves the integer in the lower bits of the mantissa; what ggml reads there
 * for values beyond 2^22, for infinities and for NaN means nothing, but is what it computes with.
 */
export function nearestInt(value: number): number {
  const shifted = fround(value + 12582912)
  if (shifted >= 8388608 && shifted < 16777216) return shifted - 12582912
  float[0] = shifted
  return (bits[0]! & 0x7fffff) - 0x400000
}

/** To the nearest integer between two limits. */
export function nearestWithin(value: number, lowest: number, highest: number): number {
  const nearest = nearestInt(value)
  return nearest < lowest ? lowest : nearest > highest ? highest : nearest
}

/** Halves away from zero. */
export const roundAway = (value: number): number => (value < 0 ? -Math.floor(0.5 - value) : Math.floor(value + 0.5))

export function sumOfSquares(values: Float32Array, from: number, count: number): number {
  let sum = 0
  for (let i = from; i < from + count; i++) sum = fround(sum + fround(values[i]! * values[i]!))
  return sum
}

export function sumOf(values: Float32Array, count: number): number {
  let sum = 0
  for (let i = 0; i < count; i++) sum = fround(sum + values[i]!)
  return sum
}

/** The importance of a column times the root of variance plus square: large values count more, small ones still count. */
export function weighBlock(
  values: Float32Array,
  from: number,
  count: number,
  importance: Float32Array,
  variance: number,
  weights: Float32Array,
): void {
  for (let i = 0; i < count; i++) {
    const value = values[from + i]!
    weights[i] = importance[from + i]! * fround(Math.sqrt(fround(variance + fround(value * value))))
  }
}

/** The squares themselves. */
export function weighBySquares(values: Float32Array, from: number, count: number, weights: Float32Array): void {
  for (let i = 0; i < count; i++) weights[i] = values[from + i]! * values[from + i]!
}

/** The value with the largest magnitude, the first of them if there are several. */
export function extremeOf(values: Float32Array, from: number, count: number): number {
  let extreme = 0
  for (let i = from; i < from + count; i++) {
    if (Math.abs(values[i]!) > Math.abs(extreme)) extreme = values[i]!
  }
  return extreme
}

export const inverse = (scale: number): number => (scale === 0 ? 0 : fround(1 / scale))

/** Smaller values count as zero. */
export const negligible = fround(1e-15)
