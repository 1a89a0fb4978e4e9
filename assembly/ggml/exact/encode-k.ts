// The K types as ggml encodes them, byte for byte, with and without importance weights; as in src/kernels/ggml/reference/encode-k.ts.
import { putCodes, putFifthBits, putPlanes, putScales, putSignedScalesQ3, putSix, putThirdBits } from '../encode-k'
import { fitPositive } from '../fit-positive'
import { f16At, putF16 } from '../lanes'
import {
  codes,
  columnValues,
  columnWeights,
  fitFactors,
  fitLows,
  fitMins,
  fitScales,
  fitWeights,
  latticeBest,
  latticeValues,
  latticeWeights,
  minSteps,
  scaleSteps,
  signedSteps,
} from '../memory-map'
import { nearestInt } from '../rounding'
import { putColumns, sumOfSquares, weighByMagnitude, weighColumns } from './columns'
import { fitByCodes } from './fit-by-codes'
import { fitFourRanges } from './fit-range'
import { fitSigned, fitToExtreme, isFitted, signedFactor } from './fit-signed'

export function encodeExactQ2_K(source: usize, target: usize, blocks: i32, importance: usize): void {
  for (; blocks > 0; blocks--) {
    fitRanges(source, importance, 64, 3, -0.5, 15)
    putRange(source, target + 80, importance, 64, 15, 3)
    v128.store(target, v128.or(v128.load(scaleSteps), i8x16.shl(v128.load(minSteps), 4)))
    putPlanes(target + 16, 0)
    source += 1024
    if (importance) importance += 1024
    target += 84
  }
}

export function encodeExactQ4_K(source: usize, target: usize, blocks: i32, importance: usize): void {
  for (; blocks > 0; blocks--) {
    fitRanges(source, importance, 128, 15, -1, 20)
    putRange(source, target, importance, 128, 63, 15)
    putScales(target + 4)
    putCodes(target + 16)
    source += 1024
    if (importance) importance += 1024
    target += 144
  }
}

export function encodeExactQ5_K(source: usize, target: usize, blocks: i32, importance: usize): void {
  for (; blocks > 0; blocks--) {
    fitRanges(source, importance, 128, 31, -0.5, 15)
    putRange(source, target, importance, 128, 63, 31)
    putScales(target + 4)
    putFifthBits(target + 16)
    putCodes(target + 48)
    source += 1024
    if (importance) importance += 1024
    target += 176
  }
}

/** Fits all sub-blocks of `size` bytes. With importance weights, the trials are the same for all types. */
function fitRanges(source: usize, importance: usize, size: usize, limit: f32, start: f32, last: i32): void {
  let variance: f32 = 0
  if (importance) variance = <f32>(((size === 64 ? 1 : 2) * <f64>sumOfSquares(source)) / 256)
  for (let sub: usize = 0; sub * size < 1024; sub += 4) {
    putColumns(source + sub * size, size, columnValues)
    if (importance) {
      weighColumns(importance + sub * size, size, variance)
      fitFourRanges(sub, size, limit, -0.9, 0.05, 36, false)
    } else {
      weighByMagnitude(size, size === 128)
      fitFourRanges(sub, size, limit, start, 0.1, last, size === 64)
    }
  }
}

/** Writes the two f16 steps; leaves the steps of scales and minimums, and the codes. */
function putRange(source: usize, target: usize, importance: usize, size: usize, stepLimit: i32, limit: i32): void {
  const count: usize = 1024 / size
  putSteps(fitScales, scaleSteps, count, stepLimit, target, importance !== 0)
  putSteps(fitMins, minSteps, count, stepLimit, target + 2, importance !== 0)
  if (importance) {
    if (size === 64) spillNibbles()
    else {
      spillSix(scaleSteps, limit)
      spillSix(minSteps, limit)
    }
  }
  const d = f16At(target)
  const dmin = f16At(target + 2)
  for (let sub: usize = 0; sub < count; sub++) {
    const scale = d * <f32>load<u8>(scaleSteps + sub)
    const from = source + sub * size
    const to = codes + sub * (size >> 2)
    if (scale === 0) {
      // The codes of the fit stay.
      const factor = load<f32>(fitFactors + 4 * sub)
      const low = load<f32>(fitLows + 4 * sub)
      for (let i: usize = 0; i < size; i += 4) {
        store<u8>(to + (i >> 2), max(0, min(limit, nearestInt(factor * (load<f32>(from + i) - low)))))
      }
    } else roundCodes(from, to, size, scale, dmin * <f32>load<u8>(minSteps + sub), limit)
  }
}

/** Steps of negative scales wrap around in eight bits, and what does not fit spills into the bits of others. This is what a reader sees. */
function spillNibbles(): void {
  const low = i8x16.splat(15)
  const steps = v128.load(scaleSteps)
  v128.store(minSteps, v128.or(i8x16.shr_u(steps, 4), v128.and(v128.load(minSteps), low)))
  v128.store(scaleSteps, v128.and(steps, low))
}

function spillSix(steps: usize, limit: i32): void {
  // Only Q5_K minds the limit.
  if (limit === 31) v128.store64_lane(steps, i8x16.min_u(v128.load64_zero(steps), i8x16.splat(63)), 0)
  const first = load<u32>(steps)
  store<u32>(steps, (load<u32>(steps, 4) & 0x3f3f3f3f) | (((first >> 6) & 0x03030303) << 4), 4)
  store<u32>(steps, first & 0x3f3f3f3f)
}

/** Scales or minimums as steps; writes the step as f16. */
function putSteps(from: usize, steps: usize, count: usize, limit: i32, target: usize, isWeighted: bool): void {
  if (isWeighted) {
    memory.copy(latticeValues, from, 4 * count)
    memory.copy(latticeWeights, fitWeights, 4 * count)
    memory.fill(latticeBest, 0, count)
    putF16(target, fitPositive(<i32>count, limit))
    memory.copy(steps, latticeBest, count)
    return
  }
  let largest: f32 = 0
  for (let i: usize = 0; i < count; i++) {
    const value = load<f32>(from + 4 * i)
    if (value > largest) largest = value
  }
  const factor: f32 = largest > 0 ? <f32>limit / largest : 0
  for (let i: usize = 0; i < count; i++) {
    store<u8>(steps + i, min(limit, nearestInt(factor * load<f32>(from + 4 * i)) & 255))
  }
  putF16(target, largest / <f32>limit)
}

/** The nearest to (value + shift) / scale in [0, limit]. */
function roundCodes(from: usize, to: usize, size: usize, scale: f32, shift: f32, limit: i32): void {
  const divisor = f32x4.splat(scale)
  const added = f32x4.splat(shift)
  const lowest = i32x4.splat(0)
  const top = i32x4.splat(limit)
  for (let i: usize = 0; i < size; i += 16) {
    const place = f32x4.div(f32x4.add(v128.load(from + i), added), divisor)
    putFour(to + (i >> 2), i32x4.min_s(i32x4.max_s(nearestFour(place), lowest), top))
  }
}

function nearestFour(places: v128): v128 {
  const bits = v128.and(f32x4.add(places, f32x4.splat(12582912)), i32x4.splat(0x7fffff))
  return i32x4.sub(bits, i32x4.splat(0x400000))
}

/** The lowest bytes of four. */
function putFour(to: usize, four: v128): void {
  v128.store32_lane(to, i8x16.shuffle(four, four, 0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 0)
}

export function encodeExactQ3_K(source: usize, target: usize, blocks: i32, importance: usize): void {
  for (; blocks > 0; blocks--) {
    const step = importance ? fitWeightedQ3(source, importance) : fitQ3(source)
    putF16(target + 108, step)
    putSignedScalesQ3(target)
    roundSigned(source, f16At(target + 108), 4)
    putThirdBits(target)
    putPlanes(target + 32, 0)
    source += 1024
    if (importance) importance += 1024
    target += 110
  }
}

/** One scale for each sub-block, then these in steps of the extreme one. */
function fitQ3(source: usize): f32 {
  for (let sub: usize = 0; sub < 16; sub += 4) {
    putColumns(source + 64 * sub, 64, columnValues)
    fitByCodes(sub)
  }
  const extreme = extremeScale()
  const factor: f32 = extreme === 0 ? 0 : -32 / extreme
  // Without any scale, the codes of the scales are zero, which means -32.
  for (let sub: usize = 0; sub < 16; sub++) {
    const steps = factor === 0 ? -32 : max(-32, min(31, nearestInt(factor * load<f32>(fitScales + 4 * sub))))
    store<i16>(signedSteps + 2 * sub, <i16>steps)
  }
  return factor === 0 ? 0 : 1 / factor
}

function fitWeightedQ3(source: usize, importance: usize): f32 {
  const variance = <f32>((2 * <f64>sumOfSquares(source)) / 256)
  for (let sub: usize = 0; sub < 16; sub++) {
    let sum: f32 = 0
    for (let i: usize = 0; i < 64; i += 4) {
      const value = load<f32>(source + 64 * sub + i)
      const weight: f32 = load<f32>(importance + 64 * sub + i) * sqrt<f32>(variance + value * value)
      store<f32>(columnWeights + i, weight)
      sum += weight
    }
    store<f32>(fitWeights + 4 * sub, sum)
    store<f32>(fitScales + 4 * sub, fitSigned(source + 64 * sub, 64, 4, columnWeights))
    keepCodes(source + 64 * sub, sub, 4)
  }
  const step = fitToExtreme(fitScales, 64, 32, fitWeights, extremeScale())
  for (let sub: usize = 0; sub < 16; sub++) {
    const code = max(-32, min(31, nearestInt(signedFactor * load<f32>(fitScales + 4 * sub))))
    store<i16>(signedSteps + 2 * sub, <i16>(isFitted ? code : -32))
  }
  return step
}

/** The codes of the last fit, which stay where the scale becomes zero. They count from the lowest, and are all zero where there is nothing to fit. */
function keepCodes(from: usize, sub: usize, limit: i32): void {
  const factor = signedFactor
  for (let i: usize = 0; i < 16; i++) {
    const code = limit + max(-limit, min(limit - 1, nearestInt(factor * load<f32>(from + 4 * i))))
    store<u8>(codes + 16 * sub + i, isFitted ? code : 0)
  }
}

function extremeScale(): f32 {
  let extreme: f32 = 0
  for (let at = fitScales; at < fitScales + 64; at += 4) if (abs(load<f32>(at)) > abs(extreme)) extreme = load<f32>(at)
  return extreme
}

/** Codes that count from the lowest, under the scales that are stored. */
function roundSigned(source: usize, d: f32, limit: i32): void {
  const bottom = i32x4.splat(-limit)
  const top = i32x4.splat(limit - 1)
  const up = i32x4.splat(limit)
  for (let sub: usize = 0; sub < 16; sub++) {
    const scale = d * <f32>load<i16>(signedSteps + 2 * sub)
    if (scale === 0) continue
    const divisor = f32x4.splat(scale)
    for (let i: usize = 0; i < 64; i += 16) {
      const nearest = nearestFour(f32x4.div(v128.load(source + 64 * sub + i), divisor))
      putFour(codes + 16 * sub + (i >> 2), i32x4.add(i32x4.min_s(i32x4.max_s(nearest, bottom), top), up))
    }
  }
}

export function encodeExactQ6_K(source: usize, target: usize, blocks: i32, importance: usize): void {
  for (; blocks > 0; blocks--) {
    for (let sub: usize = 0; sub < 16; sub++) {
      const from = source + 64 * sub
      store<f32>(fitScales + 4 * sub, fitSigned(from, 64, 32, importance ? importance + 64 * sub : 0))
      keepCodes(from, sub, 32)
    }
    const extreme = extremeScale()
    if (abs(extreme) < <f32>1e-15) memory.fill(target, 0, 210)
    else putSigned(source, target, -128 / extreme)
    source += 1024
    if (importance) importance += 1024
    target += 210
  }
}

function putSigned(source: usize, target: usize, factor: f32): void {
  putF16(target + 208, 1 / factor)
  for (let sub: usize = 0; sub < 16; sub++) {
    // A step that does not fit in eight bits wraps around.
    const steps = <i8>min(127, nearestInt(factor * load<f32>(fitScales + 4 * sub)))
    store<i16>(signedSteps + 2 * sub, <i16>steps)
    store<i8>(target + 192 + sub, steps)
  }
  roundSigned(source, f16At(target + 208), 32)
  putSix(target)
}
