// IQ1_S: vectors of -1, 0 and 1, all of a group moved up or down by an eighth. In sorted order, two cuts tell which values get which digit; all
// pairs of cuts are tried with both shifts. Vectors that the lattice does not have are then replaced by the nearest ones.
import {
  cutScale,
  cutScore,
  cutShift,
  findVectors,
  hasCuts,
  maxMagnitude,
  meanSquares,
  resetCuts,
  sortValues,
  stepsOf,
  takeCuts,
  tryCuts,
  weighCuts,
} from './cuts'
import { putF16 } from './lanes'
import { useLattice } from './lattice'
import {
  cutOrder,
  cutProducts,
  cutShifts,
  cutTrials,
  cutValues,
  cutWeights,
  latticeIndexes,
  latticeScales,
  latticeWeights,
} from './memory-map'

export function encodeIQ1_S(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  useLattice(tables)
  for (; blocks > 0; blocks--) {
    memory.fill(target, 0, 50)
    const max = putVectors(source, target, importance)
    if (max !== 0) {
      const step: f32 = max / 15
      putF16(target, step * 1.125)
      for (let sub: usize = 0; sub < 8; sub++) {
        const bits =
          <u32>stepsOf(load<f32>(latticeScales + 4 * sub), 1 / step) | ((<u32>load<u8>(cutShifts + sub)) << 3)
        store<u16>(target + 34 + 2 * sub, load<u16>(target + 34 + 2 * sub) | <u16>(bits << 12))
      }
    }
    source += 1024
    importance += 1024
    target += 50
  }
}

/** Returns the largest scale. */
function putVectors(source: usize, target: usize, importance: usize): f32 {
  const variance = meanSquares(source)
  let max: f32 = 0
  for (let sub: usize = 0; sub < 8; sub++) {
    const values = source + 128 * sub
    store<f32>(latticeScales + 4 * sub, 0)
    store<u8>(cutShifts + sub, 0)
    weighCuts(values, 32, importance + 128 * sub, variance)
    if (maxMagnitude(values, 32) < <f32>1e-12 || !cutInThree(values)) continue
    takeCuts(32, 2)
    const shift: f32 = cutShift() === 0 ? 0.125 : -0.125
    findVectors(values, 32, shift, shift)
    let high: u32 = 0
    for (let k: usize = 0; k < 4; k++) {
      const index = <u32>load<u16>(latticeIndexes + 2 * k)
      store<u8>(target + 2 + 4 * sub + k, <u8>index)
      high |= (index >> 8) << (3 * <u32>k)
    }
    store<u16>(target + 34 + 2 * sub, <u16>high)
    store<f32>(latticeScales + 4 * sub, cutScale())
    store<u8>(cutShifts + sub, <u8>cutShift())
    if (cutScale() > max) max = cutScale()
  }
  return max
}

/** Sums up to every place in sorted order make each pair of cuts cheap. False if no pair fits. */
function cutInThree(values: usize): bool {
  sortValues(values, 32)
  let product: f32 = 0
  let weight: f32 = 0
  store<f32>(cutProducts, 0)
  store<f32>(cutWeights, 0)
  for (let i: usize = 0; i < 32; i++) {
    const own = load<f32>(latticeWeights + 4 * <usize>load<u8>(cutOrder + i))
    product += own * load<f32>(cutValues + 4 * i)
    weight += own
    store<f32>(cutProducts + 4 * i, product, 4)
    store<f32>(cutWeights + 4 * i, weight, 4)
  }
  // Cuts beyond the end have no square.
  for (let i: usize = 0; i < 3; i++) store<f32>(cutWeights + 4 * i, NaN, 132)
  resetCuts()
  for (let first: usize = 0; first <= 32; first++) {
    for (let second = first; second <= 32; second += 4) tryFour(<i32>first, <i32>second)
  }
  return hasCuts()
}

/** Four pairs of cuts side by side. Only where one is better than the best so far, all four are looked at in turn. */
function tryFour(first: i32, second: i32): void {
  const start = v128.load32_splat(cutProducts + 4 * <usize>first)
  const middle = f32x4.sub(v128.load(cutProducts + 4 * <usize>second), start)
  const end = f32x4.sub(v128.load32_splat(cutProducts, 128), v128.load(cutProducts + 4 * <usize>second))
  const startWeight = v128.load32_splat(cutWeights + 4 * <usize>first)
  const middleWeight = f32x4.sub(v128.load(cutWeights + 4 * <usize>second), startWeight)
  const endWeight = f32x4.sub(v128.load32_splat(cutWeights, 128), v128.load(cutWeights + 4 * <usize>second))
  const inner = times(middleWeight, 0.125, 0.125)
  const upProduct = f32x4.add(f32x4.add(scaled(start, -0.875), scaled(middle, 0.125)), scaled(end, 1.125))
  const upSquare = f32x4.add(f32x4.add(times(startWeight, 0.875, 0.875), inner), times(endWeight, 1.125, 1.125))
  const downProduct = f32x4.add(f32x4.add(scaled(start, -1.125), scaled(middle, -0.125)), scaled(end, 0.875))
  const downSquare = f32x4.add(f32x4.add(times(startWeight, 1.125, 1.125), inner), times(endWeight, 0.875, 0.875))
  const score = f32x4.splat(cutScore())
  if (!v128.any_true(v128.or(isBetter(upProduct, upSquare, score), isBetter(downProduct, downSquare, score)))) return
  v128.store(cutTrials, upProduct)
  v128.store(cutTrials, upSquare, 16)
  v128.store(cutTrials, downProduct, 32)
  v128.store(cutTrials, downSquare, 48)
  for (let i = 0; i < 4; i++) {
    const at = cutTrials + 4 * <usize>i
    tryCuts(first, second + i, 0, load<f32>(at), load<f32>(at, 16))
    tryCuts(first, second + i, 1, load<f32>(at, 32), load<f32>(at, 48))
  }
}

function scaled(sums: v128, level: f32): v128 {
  return f32x4.mul(sums, f32x4.splat(level))
}

function times(sums: v128, level: f32, again: f32): v128 {
  return scaled(scaled(sums, level), again)
}

function isBetter(product: v128, square: v128, score: v128): v128 {
  const isFound = f32x4.gt(square, f32x4.splat(0))
  return v128.and(isFound, f32x4.gt(f32x4.mul(product, product), f32x4.mul(score, square)))
}
