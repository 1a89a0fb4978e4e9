// Signed scales of sub-blocks of 16, and their steps and codes. All is computed in f32, on values divided by the extreme one or by the step, so
// that nothing is too large or too small for it; sums run from the first value to the last.
import { putF16, putStepF16 } from './f16-scales.js'

const { fround } = Math

/** Smaller values count as zero, as in ggml. */
const smallest = fround(1e-15)

/** Smaller f16 are further apart than 1/64 of themselves. */
const veryCoarse = 2 ** -18

/** The codes are from -limit to limit - 1; the extreme value is tried at `factors`, which are around the limit. */
export interface SignedTrials {
  readonly limit: number
  readonly factors: Float32Array
}

/** The limit first, which wins where others are as good, then factors below and above it. */
export function signedTrials(limit: number, count: number, step: number): SignedTrials {
  const below = count / 2 - 1
  const apart = (i: number): number => (i === 0 ? 0 : i <= below ? i - below - 1 : i - below)
  return { limit, factors: Float32Array.from({ length: count }, (_, i) => limit + step * apart(i)) }
}

/** Of the last block: the steps of its 16 scales, and its codes, which count from the lowest. */
export const signedSteps = new Int16Array(16)
export const signedCodes = new Uint8Array(256)

/** Gains that are closer than this differ in rounding errors only; sub-blocks of a kind are to get the same scale. */
const margin = fround(1.000001)

const scales = new Float32Array(16)
/** A sub-block, divided. */
const parts = new Float32Array(16)

/** The nearest whole number, halves to even, of an f32 below 2^22. */
const wholeOf = (value: number): number => fround(fround(value + 12582912) - 12582912)

const within = (value: number, lowest: number, highest: number): number =>
  value < lowest ? lowest : value > highest ? highest : value

/** Fits 16 scales and rounds them to steps of an f16, which is written. The extreme scale becomes -stepLimit, the only code without a counterpart. */
export function putSigned(
  source: Float32Array,
  from: number,
  target: Uint8Array,
  at: number,
  trials: SignedTrials,
  stepLimit: number,
): void {
  let extreme = 0
  for (let sub = 0; sub < 16; sub++) {
    scales[sub] = fitScale(source, from + 16 * sub, trials)
    if (Math.abs(scales[sub]!) > Math.abs(extreme)) extreme = scales[sub]!
  }
  const wanted = fround(extreme / -stepLimit)
  const choose = (d: number): number => chooseSigned(source, from, d, stepLimit, trials.limit)
  const error = choose(putF16(target, at, wanted))
  if (wanted === 0 || Math.abs(wanted) >= veryCoarse) return
  // Rounded down to one of the smallest f16, a step leaves large scales out of reach.
  if (choose(putStepF16(target, at, wanted)) < error) return
  choose(putF16(target, at, wanted))
}

function divideBy(source: Float32Array, from: number, divisor: number): void {
  for (let i = 0; i < 16; i++) parts[i] = source[from + i]! / divisor
}

/** The scale s for which s * code comes closest to the values. Zero when all values are (next to) zero. */
function fitScale(source: Float32Array, from: number, { limit, factors }: SignedTrials): number {
  let extreme = 0
  for (let i = from; i < from + 16; i++) if (Math.abs(source[i]!) > Math.abs(extreme)) extreme = source[i]!
  if (Math.abs(extreme) < smallest) return 0
  divideBy(source, from, -extreme)
  let best = 0
  let bestGain = 0
  for (const factor of factors) {
    let sumXL = 0
    let sumLL = 0
    for (let i = 0; i < 16; i++) {
      const value = parts[i]!
      const code = within(wholeOf(fround(factor * value)), -limit, limit - 1)
      sumXL = fround(sumXL + fround(code * value))
      sumLL += code * code
    }
    // The error is the sum of squares less the gain.
    const scale = fround(sumXL / sumLL)
    const gain = fround(scale * sumXL)
    if (!(gain > fround(bestGain * margin))) continue
    bestGain = gain
    best = scale
  }
  return fround(best * -extreme)
}

/** The steps nearest to each scale, or their neighbours where these have less error. Returns the error of the block. */
function chooseSigned(source: Float32Array, from: number, d: number, stepLimit: number, limit: number): number {
  if (d === 0) {
    signedSteps.fill(0)
    signedCodes.fill(limit)
    return Number.POSITIVE_INFINITY
  }
  let total = 0
  for (let sub = 0; sub < 16; sub++) {
    divideBy(source, from + 16 * sub, d)
    const nearest = within(wholeOf(fround(scales[sub]! / d)), -stepLimit, stepLimit - 1)
    let best = nearest
    let smallest = signedError(nearest, limit)
    for (const steps of [Math.max(-stepLimit, nearest - 1), Math.min(stepLimit - 1, nearest + 1)]) {
      const error = signedError(steps, limit)
      if (!(error < smallest)) continue
      smallest = error
      best = steps
    }
    signedSteps[sub] = best
    const factor = best === 0 ? 0 : fround(1 / best)
    for (let i = 0; i < 16; i++) {
      signedCodes[16 * sub + i] = wholeOf(within(fround(parts[i]! * factor), -limit, limit - 1)) + limit
    }
    total += smallest
  }
  return total * (d * d)
}

/** The squared error of rounding to whole codes under this many steps, in steps. */
function signedError(steps: number, limit: number): number {
  const factor = steps === 0 ? 0 : fround(1 / steps)
  let error = 0
  for (let i = 0; i < 16; i++) {
    const value = parts[i]!
    const code = within(wholeOf(fround(factor * value)), -limit, limit - 1)
    const rest = fround(value - fround(steps * code))
    error = fround(error + fround(rest * rest))
  }
  return error
}
