// The codes between which values are rounded, four times each, in memory: see starts.ts.
import { largestCode } from './lanes'

/** As many codes below zero as above. */
export const symmetric: usize = 8352
/** All codes. */
export const positive: usize = 8384
/** All codes for the magnitude of a negative scale: the one that has no opposite is above zero. */
export const turned: usize = 8416

export function prepareLimits(bits: i32): void {
  const most = largestCode(bits)
  putLimits(symmetric, -most, most)
  putLimits(positive, -most - 1, most)
  putLimits(turned, -most, most + 1)
}

function putLimits(at: usize, low: f32, high: f32): void {
  v128.store(at, f32x4.splat(low))
  v128.store(at, f32x4.splat(high), 16)
}
