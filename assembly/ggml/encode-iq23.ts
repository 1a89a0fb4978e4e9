// IQ2 and IQ3. Signs are taken off first. The types that store seven of eight signs need an even number of minuses: where it is odd, the value
// that matters least changes its sign. Then every sub-block is fitted with vectors of a lattice, and the scales become odd multiples of the
// largest one's 31st part.
import { againAll, againAllIfOff, againOff, fitLattice, setFit } from './fit-lattice'
import { fitPositive } from './fit-positive'
import { putF16 } from './lanes'
import { indexOf, useLattice } from './lattice'
import {
  latticeBest,
  latticeHighBits,
  latticeIndexes,
  latticeRoots,
  latticeScales,
  latticeSigns,
  latticeSteps,
  latticeValues,
  latticeWeights,
} from './memory-map'
import { nearestInt } from './rounding'

/** Values per sub-block, and components per vector. */
let count: usize = 0
let width: usize = 0
let limit: i32 = 0
/** The variance that enters the weights is this multiple of the mean square. */
let spread: f64 = 0
/** What is added to the squares that serve as weights without importance, as a part of the variance. */
let floorPart: f32 = 0
/** Sub-blocks of smaller values count as zero. */
let smallest: f32 = 0
/** Scales are stored larger or smaller by this factor, which lessens the error on the whole. */
let correction: f32 = 0
let hasEvenSigns: bool = false
/** Whether a fit with plain levels gives the scale to start from. */
let startsFromLevels: bool = false
/** Whether codes and signs close up where a sub-block is zero, as ggml writes them for IQ3_S; and whether codes are written though all scales are zero. */
let closesUp: bool = false
/** Whether the last sub-block was left out for being zero. */
let isEmpty: bool = false

function setType(
  tables: usize,
  values: usize,
  components: usize,
  meanFactor: f64,
  part: f32,
  least: f32,
  scaleFactor: f32,
  evenSigns: bool,
): void {
  useLattice(tables)
  count = values
  width = components
  limit = components === 8 ? 2 : 7
  spread = meanFactor
  floorPart = part
  smallest = least
  correction = scaleFactor
  hasEvenSigns = evenSigns
  startsFromLevels = false
  closesUp = false
}

export function encodeIQ2_XXS(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  setType(tables, 32, 8, 1, 0, 1e-15, 1, true)
  setFit(32, 8, 2, 6, 0.1, againAll)
  startsFromLevels = true
  for (; blocks > 0; blocks--) {
    memory.fill(target, 0, 66)
    if (encodeBlock(source, target, importance)) {
      for (let sub: usize = 0; sub < 8; sub++) {
        putIndexes(4 * sub, 4, target + 2 + 8 * sub)
        putSignWord(sub, target + 6 + 8 * sub)
      }
    }
    source += 1024
    if (importance) importance += 1024
    target += 66
  }
}

export function encodeIQ2_XS(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  setType(tables, 16, 8, 1, 0, 1e-15, 1, true)
  setFit(16, 8, 2, 9, 0.1, againOff)
  for (; blocks > 0; blocks--) {
    memory.fill(target, 0, 74)
    if (encodeBlock(source, target, importance)) {
      for (let k: usize = 0; k < 32; k++) {
        const signs = <u32>load<u8>(latticeSigns + k)
        store<u16>(target + 2 + 2 * k, <u16>(<u32>load<u16>(latticeIndexes + 2 * k) | (signs << 9)))
      }
      putSteps(16, target + 66)
    }
    source += 1024
    if (importance) importance += 1024
    target += 74
  }
}

export function encodeIQ2_S(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  setType(tables, 16, 8, 2, 0.25, 1e-8, 0.9875, false)
  setFit(16, 8, 2, 9, 0.1, againOff)
  for (; blocks > 0; blocks--) {
    memory.fill(target, 0, 82)
    if (encodeBlock(source, target, importance)) {
      putIndexes(0, 32, target + 2)
      for (let k: usize = 0; k < 32; k++) {
        const at = target + 66 + (k >> 2)
        store<u8>(at, load<u8>(at) | (load<u8>(latticeHighBits + k) << (2 * (<u8>k & 3))))
      }
      memory.copy(target + 34, latticeSigns, 32)
      putSteps(16, target + 74)
    }
    source += 1024
    if (importance) importance += 1024
    target += 82
  }
}

export function encodeIQ3_XXS(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  setType(tables, 32, 4, 2, 0, 1e-8, 1.0125, true)
  setFit(32, 4, 7, 15, 0.2, againOff)
  for (; blocks > 0; blocks--) {
    memory.fill(target, 0, 98)
    if (encodeBlock(source, target, importance)) {
      putIndexes(0, 64, target + 2)
      for (let sub: usize = 0; sub < 8; sub++) putSignWord(sub, target + 66 + 4 * sub)
    }
    source += 1024
    if (importance) importance += 1024
    target += 98
  }
}

/** Every sub-block in its place. */
export function encodeIQ3_S(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  setType(tables, 32, 4, 2, 0, 0, 1.033, false)
  putBlocksIQ3_S(source, target, blocks, importance)
}

/** As ggml writes it, though no reader expects it. */
export function encodeClosedIQ3_S(source: usize, target: usize, blocks: i32, importance: usize, tables: usize): void {
  setType(tables, 32, 4, 2, 0, 0, 1.033, false)
  closesUp = true
  putBlocksIQ3_S(source, target, blocks, importance)
}

function putBlocksIQ3_S(source: usize, target: usize, blocks: i32, importance: usize): void {
  setFit(32, 4, 7, 9, 0.2, againAllIfOff)
  for (; blocks > 0; blocks--) {
    memory.fill(target, 0, 110)
    if (encodeBlock(source, target, importance)) {
      putIndexes(0, 64, target + 2)
      for (let k: usize = 0; k < 64; k++) {
        const at = target + 66 + (k >> 3)
        store<u8>(at, load<u8>(at) | (load<u8>(latticeHighBits + k) << (<u8>k & 7)))
      }
      memory.copy(target + 74, latticeSigns, 32)
      putSteps(8, target + 106)
    }
    source += 1024
    if (importance) importance += 1024
    target += 110
  }
}

/** The lower eight bits of indexes. */
function putIndexes(first: usize, some: usize, target: usize): void {
  for (let k: usize = 0; k < some; k++) store<u8>(target + k, <u8>load<u16>(latticeIndexes + 2 * (first + k)))
}

/** Four times seven signs and the scale of 32 values. */
function putSignWord(sub: usize, target: usize): void {
  const at = latticeSigns + 4 * sub
  const low = <u32>load<u8>(at) | ((<u32>load<u8>(at, 1)) << 7)
  const high = ((<u32>load<u8>(at, 2)) << 14) | ((<u32>load<u8>(at, 3)) << 21)
  store<u32>(target, low | high | ((<u32>load<u8>(latticeSteps + sub)) << 28))
}

/** Scales of four bits, two to a byte. */
function putSteps(some: usize, target: usize): void {
  for (let i: usize = 0; i < some; i += 2) {
    store<u8>(target + (i >> 1), load<u8>(latticeSteps + i) | (load<u8>(latticeSteps + i, 1) << 4))
  }
}

/** Fits a block and writes its scale. False if nothing else is to be written. */
function encodeBlock(source: usize, target: usize, importance: usize): bool {
  const max = fitBlock(source, importance)
  if (max === 0 && !closesUp) return false
  const step: f32 = max / 31
  putF16(target, step * correction)
  const factor: f32 = 1 / step
  for (let sub: usize = 0; sub < 256 / count; sub++) {
    const place: f32 = 0.5 * (factor * load<f32>(latticeScales + 4 * sub) - 1)
    store<u8>(latticeSteps + sub, <u8>max_s(0, min_s(15, nearestInt(place))))
  }
  return true
}

function max_s(a: i32, b: i32): i32 {
  return a > b ? a : b
}

function min_s(a: i32, b: i32): i32 {
  return a < b ? a : b
}

/** Returns the largest scale. */
function fitBlock(source: usize, importance: usize): f32 {
  let squares: f32 = 0
  for (let i: usize = 0; i < 1024; i += 4) squares += load<f32>(source + i) * load<f32>(source + i)
  const variance = <f32>((spread * <f64>squares) / 256)
  let max: f32 = 0
  memory.fill(latticeIndexes, 0, 128 + 64 + 32)
  for (let sub: usize = 0, place: usize = 0; sub < 256 / count; sub++) {
    if (!closesUp) place = sub
    const signs = latticeSigns + (place * count) / 8
    let scale = fitSubBlock(source + 4 * sub * count, importance ? importance + 4 * sub * count : 0, variance, signs)
    if (scale < 0) {
      scale = -scale
      const all: u8 = hasEvenSigns ? 127 : 255
      for (let k: usize = 0; k < count / 8; k++) store<u8>(signs + k, ~load<u8>(signs + k) & all)
    }
    store<f32>(latticeScales + 4 * sub, scale)
    if (isEmpty) {
      memory.fill(signs, 0, count / 8)
      continue
    }
    for (let k: usize = 0; k < count / width; k++) {
      const index = indexOf(latticeBest + k * width)
      store<u16>(latticeIndexes + 2 * ((place * count) / width + k), <u16>index)
      store<u8>(latticeHighBits + (sub * count) / width + k, <u8>(index >> 8))
    }
    place++
    if (scale > max) max = scale
  }
  return max
}

function fitSubBlock(source: usize, importance: usize, variance: f32, signs: usize): f32 {
  weigh(source, importance, variance)
  for (let k: usize = 0; k < count / 8; k++) store<u8>(signs + k, takeSigns(source, 8 * k))
  let max = load<f32>(latticeValues)
  for (let i: usize = 4; i < 4 * count; i += 4) {
    const value = load<f32>(latticeValues + i)
    if (!(max > value)) max = value
  }
  isEmpty = smallest === 0 ? max === 0 : max < smallest
  if (isEmpty) return 0
  if (!startsFromLevels) return fitLattice(max, max / <f32>((limit << 1) + 1))
  const scale = fitPositive(count, limit + 2)
  const top = scale * <f32>(limit + 1)
  isEmpty = !(top > 0)
  return isEmpty ? 0 : fitLattice(top, scale)
}

/** Weights, and their roots. */
function weigh(source: usize, importance: usize, variance: f32): void {
  const added = f32x4.splat(importance ? variance : floorPart * variance)
  for (let at: usize = 0; at < 4 * count; at += 16) {
    const four = v128.load(source + at)
    const squares = f32x4.mul(four, four)
    let weights = squares
    if (importance) weights = f32x4.mul(v128.load(importance + at), f32x4.sqrt(f32x4.add(added, squares)))
    else if (floorPart > 0) weights = f32x4.add(added, squares)
    v128.store(latticeWeights + at, weights)
    v128.store(latticeRoots + at, f32x4.sqrt(weights))
  }
}

/** Puts eight magnitudes in place and returns the signs. */
function takeSigns(source: usize, first: usize): u8 {
  const values = source + 4 * first
  const low = v128.load(values)
  const high = v128.load(values, 16)
  const target = latticeValues + 4 * first
  v128.store(target, f32x4.abs(low))
  v128.store(target, f32x4.abs(high), 16)
  const zero = f32x4.splat(0)
  const bits = i32x4.bitmask(f32x4.lt(low, zero)) | (i32x4.bitmask(f32x4.lt(high, zero)) << 4)
  if (!hasEvenSigns) return <u8>bits
  if (!(popcnt(bits) & 1)) return <u8>(bits & 127)
  let least: usize = 0
  let smallestMatter: f32 = 0
  for (let i: usize = 0; i < 8; i++) {
    const value = load<f32>(values + 4 * i)
    const matter = load<f32>(latticeWeights + 4 * (first + i)) * value * value
    if (i > 0 && !(matter < smallestMatter)) continue
    smallestMatter = matter
    least = i
  }
  store<f32>(target + 4 * least, -load<f32>(target + 4 * least))
  return <u8>((bits ^ (1 << (<i32>least))) & 127)
}
