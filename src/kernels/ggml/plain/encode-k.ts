// Encoders of the K types, all in the same steps: fit a scale (and minimum) to every sub-block; round these to the few bits that the block
// has for them, up or down, whichever gives the smaller error; round every value to the nearest code under the scale that a reader will
// see; pack.

import { blockBytes, type EncodeBlocks, fieldOffset, layouts } from '../layouts.js'
import { putStepF16 } from './f16-scales.js'
import { errorOf, fitScaleAndMin, type Trials } from './fit.js'
import { putSigned, signedCodes, signedSteps, signedTrials } from './fit-signed.js'
import {
  putFifthPlanes,
  putLowSix,
  putPairs,
  putPlanes,
  putScaleQ3,
  putScalesAndMins,
  putThirdPlanes,
} from './pack-codes.js'

const codes = new Uint8Array(256)
const scales = new Float64Array(16)
const mins = new Float64Array(16)
const scaleSteps = new Uint8Array(16)
const minSteps = new Uint8Array(16)
/** What the fits leave, before scales and minimums are rounded. */
const fitErrors = new Float64Array(16)
const fitted = { scale: 0, min: 0, error: 0 }

/** Codes of one sub-block: the nearest to (value + min) / scale in [0, limit]. With a scale of zero every code means the same. */
function roundCodes(
  source: Float32Array,
  from: number,
  first: number,
  count: number,
  scale: number,
  min: number,
  limit: number,
): void {
  if (scale === 0) {
    codes.fill(0, first, first + count)
    return
  }
  for (let i = 0; i < count; i++) {
    codes[first + i] = Math.max(0, Math.min(limit, Math.round((source[from + first + i]! + min) / scale)))
  }
}

const q2 = layouts.q2_k
const q2Size = blockBytes(q2)
const q2Codes = fieldOffset(q2, 'qs')
const q2D = fieldOffset(q2, 'd')
const q2Min = fieldOffset(q2, 'dmin')
const q2Trials: Trials = { limit: 3, start: -0.5, step: 0.2, count: 7, quarters: 0 }

export function encodeQ2_K(source: Float32Array, target: Uint8Array, blocks: number): void {
  for (let block = 0, from = 0, at = 0; block < blocks; block++, from += 256, at += q2Size) {
    for (let sub = 0; sub < 16; sub++) {
      fitScaleAndMin(source, from + 16 * sub, 16, q2Trials, fitted)
      scales[sub] = fitted.scale
      mins[sub] = fitted.min
      fitErrors[sub] = fitted.error
    }
    const d = putStep(target, at + q2D, scales, 16, 15)
    const dmin = putStep(target, at + q2Min, mins, 16, 15)
    for (let sub = 0; sub < 16; sub++) {
      chooseSteps(source, from + 16 * sub, 16, sub, d, dmin, 15, 3)
      target[at + sub] = scaleSteps[sub]! | (minSteps[sub]! << 4)
      roundCodes(source, from, 16 * sub, 16, d * scaleSteps[sub]!, dmin * minSteps[sub]!, 3)
    }
    putPlanes(codes, target, at + q2Codes, 0)
  }
}

/** Writes the f16 step under which the largest value gets the highest code; returns it as a reader will see it. */
function putStep(target: Uint8Array, at: number, values: Float64Array, count: number, limit: number): number {
  let largest = 0
  for (let i = 0; i < count; i++) if (values[i]! > largest) largest = values[i]!
  return putStepF16(target, at, largest / limit)
}

const stepsOf = (value: number, step: number, limit: number): number =>
  step > 0 && value > 0 ? Math.min(limit, Math.round(value / step)) : 0

/**
 * The nearest steps and their neighbours: a scale that is slightly too small clips the largest values, so the nearest is not always the best.
 * Where steps are coarse for a sub-block, since another one has far larger values, all scales are tried.
 */
function chooseSteps(
  source: Float32Array,
  from: number,
  count: number,
  sub: number,
  d: number,
  dmin: number,
  stepLimit: number,
  codeLimit: number,
): void {
  const scale = stepsOf(scales[sub]!, d, stepLimit)
  const min = stepsOf(mins[sub]!, dmin, stepLimit)
  scaleSteps[sub] = scale
  minSteps[sub] = min
  if (d === 0) return
  const around = (near: number, error: number): number =>
    chooseAround(source, from, count, sub, d, dmin, near, min, stepLimit, codeLimit, error)
  let error = around(scale, Number.POSITIVE_INFINITY)
  if (!(error > 2 * fitErrors[sub]!)) return
  for (let near = 1; near <= stepLimit; near += 4) error = around(near, error)
}

/** Takes the steps around these if they have less error than there was before; returns the error. */
function chooseAround(
  source: Float32Array,
  from: number,
  count: number,
  sub: number,
  d: number,
  dmin: number,
  scale: number,
  min: number,
  stepLimit: number,
  codeLimit: number,
  before: number,
): number {
  let minError = before
  for (let a = Math.max(0, scale - 1); a <= Math.min(stepLimit, scale + 2); a++) {
    for (let b = Math.max(0, min - 1); b <= Math.min(dmin === 0 ? 0 : stepLimit, min + 1); b++) {
      const error = errorOf(source, from, count, d * a, dmin * b, codeLimit)
      if (error >= minError) continue
      minError = error
      scaleSteps[sub] = a
      minSteps[sub] = b
    }
  }
  return minError
}

/** Q4_K and Q5_K. */
function encodeScaleAndMin(layout: typeof layouts.q4_k | typeof layouts.q5_k, trials: Trials): EncodeBlocks {
  const size = blockBytes(layout)
  const scalesAt = fieldOffset(layout, 'scales')
  const codesAt = fieldOffset(layout, 'qs')
  const highAt = trials.limit > 15 ? fieldOffset(layout, 'qh') : undefined
  return (source, target, blocks) => {
    for (let block = 0, from = 0, at = 0; block < blocks; block++, from += 256, at += size) {
      for (let sub = 0; sub < 8; sub++) {
        fitScaleAndMin(source, from + 32 * sub, 32, trials, fitted)
        scales[sub] = fitted.scale
        mins[sub] = fitted.min
        fitErrors[sub] = fitted.error
      }
      const d = putStep(target, at, scales, 8, 63)
      const dmin = putStep(target, at + 2, mins, 8, 63)
      for (let sub = 0; sub < 8; sub++) {
        chooseSteps(source, from + 32 * sub, 32, sub, d, dmin, 63, trials.limit)
      }
      putScalesAndMins(scaleSteps, minSteps, target, at + scalesAt)
      for (let sub = 0; sub < 8; sub++) {
        roundCodes(source, from, 32 * sub, 32, d * scaleSteps[sub]!, dmin * minSteps[sub]!, trials.limit)
      }
      putPairs(codes, target, at + codesAt)
      if (highAt !== undefined) putFifthPlanes(codes, target, at + highAt)
    }
  }
}

export const encodeQ4_K = encodeScaleAndMin(layouts.q4_k, { limit: 15, start: -1, step: 0.1, count: 20, quarters: 4 })
export const encodeQ5_K = encodeScaleAndMin(layouts.q5_k, { limit: 31, start: -0.5, step: 0.1, count: 15, quarters: 4 })

const q3 = layouts.q3_k
const q3Size = blockBytes(q3)
const q3Codes = fieldOffset(q3, 'qs')
const q3Scales = fieldOffset(q3, 'scales')
const q3D = fieldOffset(q3, 'd')
const q3Trials = signedTrials(4, 8, 0.3)

export function encodeQ3_K(source: Float32Array, target: Uint8Array, blocks: number): void {
  for (let block = 0, from = 0, at = 0; block < blocks; block++, from += 256, at += q3Size) {
    putSigned(source, from, target, at + q3D, q3Trials, 32)
    target.fill(0, at + q3Scales, at + q3Scales + 12)
    for (let sub = 0; sub < 16; sub++) putScaleQ3(signedSteps[sub]! + 32, sub, target, at + q3Scales)
    putPlanes(signedCodes, target, at + q3Codes, 0)
    putThirdPlanes(signedCodes, target, at)
  }
}

const q6 = layouts.q6_k
const q6Size = blockBytes(q6)
const q6High = fieldOffset(q6, 'qh')
const q6Scales = fieldOffset(q6, 'scales')
const q6D = fieldOffset(q6, 'd')
const q6Trials = signedTrials(32, 16, 0.4)

export function encodeQ6_K(source: Float32Array, target: Uint8Array, blocks: number): void {
  for (let block = 0, from = 0, at = 0; block < blocks; block++, from += 256, at += q6Size) {
    putSigned(source, from, target, at + q6D, q6Trials, 128)
    for (let sub = 0; sub < 16; sub++) target[at + q6Scales + sub] = signedSteps[sub]!
    putLowSix(signedCodes, target, at)
    putPlanes(signedCodes, target, at + q6High, 4)
  }
}
