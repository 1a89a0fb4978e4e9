// One sub-block of an IQ2 or IQ3 type: magnitudes become vectors of a lattice under a common scale. Scales around the obvious one are tried;
// vectors that came about by a detour through neighbours are chosen again under the best scale.
import { nearestWithin } from './arithmetic.js'
import { type Grid, keyOf, nearestVector } from './grid.js'

const { fround } = Math

export interface GridFit {
  readonly count: 16 | 32
  /** The highest digit. */
  readonly limit: 2 | 7
  /** Scales are tried from -tries to tries steps around the obvious one. */
  readonly tries: number
  readonly step: number
  /** Which vectors are chosen again: those off the lattice, all if one is off the lattice, or all. */
  readonly again: 'off' | 'all-if-off' | 'all'
}

const attempt = new Uint8Array(32)
const isOff = new Uint8Array(8)
const isOffInAttempt = new Uint8Array(8)
const sums = { product: 0, square: 0 }

/**
 * Returns the scale, which is negative only if all is lost to rounding. `top` is what the highest level stands for at first, `first` the scale that
 * stays if no trial is better.
 */
export function fitGrid(
  grid: Grid,
  fit: GridFit,
  values: Float32Array,
  weights: Float32Array,
  roots: Float32Array,
  top: number,
  first: number,
  digits: Uint8Array,
): number {
  const { count, limit, tries, again } = fit
  const { width } = grid
  const groups = count / width
  let scale = first
  let best = 0
  digits.fill(0, 0, count)
  isOff.fill(again === 'off' ? 0 : 1)
  for (let trial = -tries; trial <= tries; trial++) {
    const factor = fround(fround(2 * limit + 1 + fround(trial * fround(fit.step))) / top)
    const attemptScale = fround(1 / factor)
    roundDigits(values, 0, count, factor, limit, attempt)
    for (let group = 0; group < groups; group++) {
      const at = group * width
      isOffInAttempt[group] = grid.indexes[keyOf(grid, attempt, at)]! < 0 ? 1 : 0
      if (isOffInAttempt[group]) nearestVector(grid, attempt, at, values, at, roots, at, attemptScale)
    }
    sumProducts(values, weights, attempt, count)
    if (!(sums.square > 0 && fround(sums.product * sums.product) > fround(best * sums.square))) continue
    scale = fround(sums.product / sums.square)
    best = fround(scale * sums.product)
    digits.set(attempt.subarray(0, count))
    isOff.set(isOffInAttempt)
  }
  const hasOff = again === 'all' || isOff.subarray(0, groups).includes(1)
  if (!hasOff || !(scale > 0)) return scale
  const factor = fround(1 / scale)
  for (let group = 0; group < groups; group++) {
    if (again === 'off' && !isOff[group]) continue
    const at = group * width
    roundDigits(values, at, width, factor, limit, digits)
    nearestVector(grid, digits, at, values, at, roots, at, scale)
  }
  sumProducts(values, weights, digits, count)
  return sums.square > 0 ? fround(sums.product / sums.square) : scale
}

/** Digit n stands for 2n + 1. */
function roundDigits(
  values: Float32Array,
  from: number,
  count: number,
  factor: number,
  limit: number,
  digits: Uint8Array,
): void {
  for (let i = from; i < from + count; i++) {
    digits[i] = nearestWithin(fround(0.5 * fround(fround(factor * values[i]!) - 1)), 0, limit)
  }
}

function sumProducts(values: Float32Array, weights: Float32Array, digits: Uint8Array, count: number): void {
  sums.product = 0
  sums.square = 0
  for (let i = 0; i < count; i++) {
    const weight = weights[i]!
    const level = 2 * digits[i]! + 1
    sums.product = fround(sums.product + fround(fround(weight * values[i]!) * level))
    sums.square = fround(sums.square + fround(fround(weight * level) * level))
  }
}
