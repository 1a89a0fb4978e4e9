// Scale and minimum for codes from 0 up. Each trial rounds to codes under a slightly different scale and solves for the scale and minimum that suit
// these codes best. A better minimum takes effect at once: the next trial starts from it.
import { nearestWithin } from './arithmetic.js'

const { fround } = Math

/** How the scales to try are laid out: `limit + start` steps over the range, then `step` more each time. */
export interface Trials {
  readonly limit: number
  readonly start: number
  readonly step: number
  readonly count: number
  /** Whether the error is the sum of magnitudes instead of squares. */
  readonly isAbsolute?: boolean
}

/** The trials with importance weights are the same for all types. */
export const weightedTrials = (limit: number): Trials => ({ limit, start: -0.9, step: 0.05, count: 36 })

const attempt = new Uint8Array(32)

/** Returns the scale; `found.min` is what is subtracted, never negative. */
export function fitRange(
  values: Float32Array,
  from: number,
  count: number,
  weights: Float32Array,
  trials: Trials,
  codes: Uint8Array,
  codesFrom: number,
  found: { min: number },
): number {
  const { limit } = trials
  let min = values[from]!
  let max = min
  let sumW = weights[0]!
  let sumX = fround(sumW * min)
  for (let i = 1; i < count; i++) {
    const value = values[from + i]!
    if (value < min) min = value
    if (value > max) max = value
    sumW = fround(sumW + weights[i]!)
    sumX = fround(sumX + fround(weights[i]! * value))
  }
  if (min > 0) min = 0
  if (max <= min) {
    codes.fill(0, codesFrom, codesFrom + count)
    found.min = -min
    return 0
  }
  const factor = fround(limit / fround(max - min))
  let scale = fround(1 / factor)
  for (let i = 0; i < count; i++) {
    attempt[i] = nearestWithin(fround(factor * fround(values[from + i]! - min)), 0, limit)
  }
  let minError = errorOf(values, from, count, weights, scale, min, trials.isAbsolute)
  codes.set(attempt.subarray(0, count), codesFrom)
  const start = fround(trials.start)
  const step = fround(trials.step)
  for (let trial = 0; trial <= trials.count; trial++) {
    const steps = fround(fround(start + fround(step * trial)) + limit)
    const next = fround(steps / fround(max - min))
    let sumL = 0
    let sumLL = 0
    let sumXL = 0
    for (let i = 0; i < count; i++) {
      const value = values[from + i]!
      const code = nearestWithin(fround(next * fround(value - min)), 0, limit)
      attempt[i] = code
      const weighted = fround(weights[i]! * code)
      sumL = fround(sumL + weighted)
      sumLL = fround(sumLL + fround(weighted * code))
      sumXL = fround(sumXL + fround(weighted * value))
    }
    const determinant = fround(fround(sumW * sumLL) - fround(sumL * sumL))
    if (!(determinant > 0)) continue
    let newScale = fround(fround(fround(sumW * sumXL) - fround(sumX * sumL)) / determinant)
    let newMin = fround(fround(fround(sumLL * sumX) - fround(sumL * sumXL)) / determinant)
    if (newMin > 0) {
      newMin = 0
      newScale = fround(sumXL / sumLL)
    }
    const error = errorOf(values, from, count, weights, newScale, newMin, trials.isAbsolute)
    if (!(error < minError)) continue
    codes.set(attempt.subarray(0, count), codesFrom)
    minError = error
    scale = newScale
    min = newMin
  }
  found.min = -min
  return scale
}

function errorOf(
  values: Float32Array,
  from: number,
  count: number,
  weights: Float32Array,
  scale: number,
  min: number,
  isAbsolute: boolean | undefined,
): number {
  let error = 0
  for (let i = 0; i < count; i++) {
    const rest = fround(fround(fround(scale * attempt[i]!) + min) - values[from + i]!)
    const size = isAbsolute ? Math.abs(rest) : fround(rest * rest)
    error = fround(error + fround(weights[i]! * size))
  }
  return error
}
