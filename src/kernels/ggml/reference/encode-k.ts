// The K types: a scale (and minimum) for every sub-block, these rounded to a few bits, then every value rounded under the scale that a reader
// will see. Where that scale is zero, the codes of the fit stay.
import { blockBytes, type EncodeRow, fieldOffset, layouts } from '../layouts.js'
import { f16At, putF16 } from '../plain/f16-scales.js'
import {
  putFifthPlanes,
  putLowSix,
  putPairs,
  putPlanes,
  putScaleQ3,
  putScalesAndMins,
  putThirdPlanes,
} from '../plain/pack-codes.js'
import { nearestInt, nearestWithin, negligible, sumOf, sumOfSquares, weighBlock } from './arithmetic.js'
import { fitRange, type Trials, weightedTrials } from './fit-range.js'
import { fitByCodes, fitPositive, fitSigned } from './fit-signed.js'

const { fround } = Math

const codes = new Uint8Array(256)
const signedCodes = new Int8Array(256)
const weights = new Float32Array(32)
const scales = new Float32Array(16)
const mins = new Float32Array(16)
const weightSums = new Float32Array(16)
const scaleSteps = new Uint8Array(16)
const minSteps = new Uint8Array(16)
const signedSteps = new Int8Array(16)
const found = { min: 0 }

interface RangeType {
  readonly layout: typeof layouts.q2_k | typeof layouts.q4_k | typeof layouts.q5_k
  /** Elements of a sub-block. */
  readonly width: 16 | 32
  /** The highest code of a scale. */
  readonly stepLimit: 15 | 63
  readonly trials: Trials
  /** The variance that enters the weights is this multiple of the mean square. */
  readonly spread: 1 | 2
}

/** Q2_K, Q4_K and Q5_K: fits every sub-block and writes the two f16 steps. */
function fitRanges(type: RangeType, row: Float32Array, from: number, importance: Float32Array | undefined): void {
  const { width, trials, spread } = type
  const variance = importance ? fround((spread * sumOfSquares(row, from, 256)) / 256) : 0
  for (let sub = 0; sub < 256 / width; sub++) {
    const first = from + sub * width
    if (importance) weighBlock(row, first, width, importance, variance, weights)
    else weighPlain(row, first, width)
    weightSums[sub] = sumOf(weights, width)
    const fit = importance ? weightedTrials(trials.limit) : trials
    scales[sub] = fitRange(row, first, width, weights, fit, codes, sub * width, found)
    mins[sub] = found.min
  }
}

/** Q2_K weighs by magnitude; the others add the root mean square of the sub-block. */
function weighPlain(row: Float32Array, from: number, width: number): void {
  const mean = width === 16 ? 0 : fround(Math.sqrt(fround(sumOfSquares(row, from, width) / width)))
  for (let i = 0; i < width; i++) weights[i] = mean + Math.abs(row[from + i]!)
}

/** Rounds scales or minimums to steps, and writes the step as f16. */
function putSteps(
  values: Float32Array,
  { width, stepLimit }: RangeType,
  isWeighted: boolean,
  steps: Uint8Array,
  target: Uint8Array,
  at: number,
): void {
  const count = 256 / width
  if (isWeighted) {
    putF16(target, at, fitPositive(values, count, stepLimit, weightSums, steps))
    return
  }
  let max = 0
  for (let i = 0; i < count; i++) if (values[i]! > max) max = values[i]!
  const factor = max > 0 ? fround(stepLimit / max) : 0
  for (let i = 0; i < count; i++) steps[i] = Math.min(stepLimit, nearestInt(fround(factor * values[i]!)) & 255)
  putF16(target, at, fround(max / stepLimit))
}

/**
 * Steps as a reader sees them. Huge differences between importance weights can make a scale negative; its steps then wrap around in eight bits, and
 * what does not fit into the bits for a sub-block spills into those of another one.
 */
function spillSteps({ width, trials }: RangeType): void {
  if (width === 16) {
    for (let sub = 0; sub < 16; sub++) {
      minSteps[sub] = (scaleSteps[sub]! >>> 4) | (minSteps[sub]! & 15)
      scaleSteps[sub]! &= 15
    }
    return
  }
  for (const steps of [scaleSteps, minSteps]) {
    // Only Q5_K minds the limit.
    if (trials.limit === 31) for (let sub = 0; sub < 8; sub++) steps[sub] = Math.min(63, steps[sub]!)
    for (let sub = 0; sub < 4; sub++) {
      steps[sub + 4] = (steps[sub + 4]! & 63) | ((steps[sub]! >>> 6) << 4)
      steps[sub]! &= 63
    }
  }
}

function roundToCodes(type: RangeType, row: Float32Array, from: number, d: number, dmin: number): void {
  const { width, trials } = type
  for (let sub = 0; sub < 256 / width; sub++) {
    const scale = fround(d * scaleSteps[sub]!)
    if (scale === 0) continue
    const min = fround(dmin * minSteps[sub]!)
    for (let i = sub * width; i < (sub + 1) * width; i++) {
      codes[i] = nearestWithin(fround(fround(row[from + i]! + min) / scale), 0, trials.limit)
    }
  }
}

function encodeRanges(type: RangeType, put: (target: Uint8Array, at: number) => void): EncodeRow {
  const { layout } = type
  const size = blockBytes(layout)
  const [stepAt, minAt] = [fieldOffset(layout, 'd'), fieldOffset(layout, 'dmin')]
  return (row, target, importance) => {
    for (let from = 0, at = 0; from < row.length; from += 256, at += size) {
      fitRanges(type, row, from, importance)
      putSteps(scales, type, importance !== undefined, scaleSteps, target, at + stepAt)
      putSteps(mins, type, importance !== undefined, minSteps, target, at + minAt)
      if (importance) spillSteps(type)
      roundToCodes(type, row, from, f16At(target, at + stepAt), f16At(target, at + minAt))
      put(target, at)
    }
  }
}

const q2Trials: Trials = { limit: 3, start: -0.5, step: 0.1, count: 15, isAbsolute: true }
const q4Trials: Trials = { limit: 15, start: -1, step: 0.1, count: 20 }
const q5Trials: Trials = { limit: 31, start: -0.5, step: 0.1, count: 15 }

export const referenceQ2_K = encodeRanges(
  { layout: layouts.q2_k, width: 16, stepLimit: 15, trials: q2Trials, spread: 1 },
  (target, at) => {
    for (let sub = 0; sub < 16; sub++) target[at + sub] = scaleSteps[sub]! | (minSteps[sub]! << 4)
    putPlanes(codes, target, at + fieldOffset(layouts.q2_k, 'qs'), 0)
  },
)

export const referenceQ4_K = encodeRanges(
  { layout: layouts.q4_k, width: 32, stepLimit: 63, trials: q4Trials, spread: 2 },
  (target, at) => {
    putScalesAndMins(scaleSteps, minSteps, target, at + fieldOffset(layouts.q4_k, 'scales'))
    putPairs(codes, target, at + fieldOffset(layouts.q4_k, 'qs'))
  },
)

export const referenceQ5_K = encodeRanges(
  { layout: layouts.q5_k, width: 32, stepLimit: 63, trials: q5Trials, spread: 2 },
  (target, at) => {
    putScalesAndMins(scaleSteps, minSteps, target, at + fieldOffset(layouts.q5_k, 'scales'))
    putFifthPlanes(codes, target, at + fieldOffset(layouts.q5_k, 'qh'))
    putPairs(codes, target, at + fieldOffset(layouts.q5_k, 'qs'))
  },
)

/** Codes with an offset, under the scales that are stored. */
function roundToSigned(row: Float32Array, from: number, d: number, limit: number): void {
  for (let sub = 0; sub < 16; sub++) {
    const scale = fround(d * signedSteps[sub]!)
    if (scale === 0) continue
    for (let i = 16 * sub; i < 16 * (sub + 1); i++) {
      signedCodes[i] = limit + nearestWithin(fround(row[from + i]! / scale), -limit, limit - 1)
    }
  }
}

const q3Size = blockBytes(layouts.q3_k)
const q3Scales = fieldOffset(layouts.q3_k, 'scales')
const q3D = fieldOffset(layouts.q3_k, 'd')

export const referenceQ3_K: EncodeRow = (row, target, importance) => {
  for (let from = 0, at = 0; from < row.length; from += 256, at += q3Size) {
    const step = importance ? fitWeightedQ3(row, from, importance) : fitQ3(row, from)
    const d = putF16(target, at + q3D, step)
    target.fill(0, at + q3Scales, at + q3Scales + 12)
    for (let sub = 0; sub < 16; sub++) putScaleQ3(signedSteps[sub]! + 32, sub, target, at + q3Scales)
    roundToSigned(row, from, d, 4)
    putPlanes(signedCodes, target, at + fieldOffset(layouts.q3_k, 'qs'), 0)
    putThirdPlanes(signedCodes, target, at)
  }
}

function fitQ3(row: Float32Array, from: number): number {
  for (let sub = 0; sub < 16; sub++) scales[sub] = fitByCodes(row, from + 16 * sub, 16, 4, signedCodes, 16 * sub)
  const extreme = extremeScale()
  const factor = extreme === 0 ? 0 : fround(-32 / extreme)
  // Without any scale, the codes of the scales are zero, which means -32.
  for (let sub = 0; sub < 16; sub++)
    signedSteps[sub] = factor === 0 ? -32 : nearestWithin(fround(factor * scales[sub]!), -32, 31)
  return factor === 0 ? 0 : fround(1 / factor)
}

function fitWeightedQ3(row: Float32Array, from: number, importance: Float32Array): number {
  const variance = fround((2 * sumOfSquares(row, from, 256)) / 256)
  for (let sub = 0; sub < 16; sub++) {
    weighBlock(row, from + 16 * sub, 16, importance, variance, weights)
    weightSums[sub] = sumOf(weights, 16)
    scales[sub] = fitSigned(row, from + 16 * sub, 16, 4, weights, 0, signedCodes, 16 * sub)
  }
  const step = fitSigned(scales, 0, 16, 32, weightSums, 0, signedSteps, 0)
  for (let sub = 0; sub < 16; sub++) signedSteps[sub]! -= 32
  return step
}

function extremeScale(): number {
  let extreme = 0
  for (let sub = 0; sub < 16; sub++) if (Math.abs(scales[sub]!) > Math.abs(extreme)) extreme = scales[sub]!
  return extreme
}

const q6Size = blockBytes(layouts.q6_k)
const q6Scales = fieldOffset(layouts.q6_k, 'scales')
const q6D = fieldOffset(layouts.q6_k, 'd')

export const referenceQ6_K: EncodeRow = (row, target, importance) => {
  for (let from = 0, at = 0; from < row.length; from += 256, at += q6Size) {
    for (let sub = 0; sub < 16; sub++) {
      const first = from + 16 * sub
      scales[sub] = fitSigned(row, first, 16, 32, importance, first, signedCodes, 16 * sub)
    }
    const extreme = extremeScale()
    if (Math.abs(extreme) < negligible) {
      target.fill(0, at, at + q6Size)
      continue
    }
    const factor = fround(-128 / extreme)
    const d = putF16(target, at + q6D, fround(1 / factor))
    for (let sub = 0; sub < 16; sub++) {
      signedSteps[sub] = Math.min(127, nearestInt(fround(factor * scales[sub]!)))
      target[at + q6Scales + sub] = signedSteps[sub]!
    }
    roundToSigned(row, from, d, 32)
    putLowSix(signedCodes, target, at)
    putPlanes(signedCodes, target, at + fieldOffset(layouts.q6_k, 'qh'), 4)
  }
}
