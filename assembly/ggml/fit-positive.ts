// The scale of magnitudes with plain levels, from which IQ2_XXS starts: nine factors around the obvious one, then single codes change as long as
// that lessens the error.
import { latticeBest, latticeValues, latticeWeights } from './memory-map'
import { nearestInt } from './rounding'

const negligible: f32 = 1e-15

/** The scale of `count` values at `latticeValues` with codes up to `limit`. */
export function fitPositive(count: usize, limit: i32): f32 {
  let max: f32 = 0
  for (let i: usize = 0; i < count; i++) if (valueAt(i) >= max) max = valueAt(i)
  if (max < negligible) return 0
  const factor = bestFactor(count, limit, max)
  let product: f32 = 0
  let square: f32 = 0
  for (let i: usize = 0; i < count; i++) {
    const code = min(limit, nearestInt(factor * valueAt(i)))
    // What is negative wraps around.
    store<u8>(latticeBest + i, <u8>code)
    product += weightAt(i) * valueAt(i) * <f32>code
    square += weightAt(i) * <f32>code * <f32>code
  }
  for (let round = 0; round < 5; round++) {
    let isChanged = false
    for (let i: usize = 0; i < count; i++) {
      const value = valueAt(i)
      const weight = weightAt(i)
      const code = load<u8>(latticeBest + i)
      let otherProduct = product - weight * value * <f32>code
      let otherSquare = square - weight * <f32>code * <f32>code
      if (!(otherProduct > 0 && otherSquare > 0)) continue
      const next = min(limit, nearestInt((value * otherSquare) / otherProduct))
      if (next === <i32>code) continue
      otherProduct += weight * value * <f32>next
      otherSquare += weight * <f32>next * <f32>next
      if (!(otherProduct * otherProduct * square > product * product * otherSquare)) continue
      store<u8>(latticeBest + i, <u8>next)
      product = otherProduct
      square = otherSquare
      isChanged = true
    }
    if (!isChanged) break
  }
  return square > 0 ? product / square : 0
}

function valueAt(i: usize): f32 {
  return load<f32>(latticeValues + 4 * i)
}

function weightAt(i: usize): f32 {
  return load<f32>(latticeWeights + 4 * i)
}

/** The factor whose rounded codes leave the least error. Codes of the first are not limited, but wrap around in eight bits. */
function bestFactor(count: usize, limit: i32, max: f32): f32 {
  const tenth: f32 = 0.1
  let best: f32 = <f32>limit / max
  let least: f32 = 0
  for (let trial = 0; trial <= 8; trial++) {
    const tenths = trial < 5 ? trial - 5 : trial - 4
    const factor: f32 = trial === 0 ? best : (tenth * <f32>tenths + <f32>limit) / max
    const scale: f32 = 1 / factor
    let error: f32 = 0
    for (let i: usize = 0; i < count; i++) {
      const nearest = nearestInt(factor * valueAt(i))
      const rest = valueAt(i) - scale * <f32>(trial === 0 ? nearest & 255 : min(limit, nearest))
      error += weightAt(i) * rest * rest
    }
    if (trial > 0 && !(error < least)) continue
    least = error
    best = factor
  }
  return best
}
