// BLAKE3 of up to 64 KiB: the chaining values of its chunks of 1 KiB, four at a time, then of their parents, level by level. Where fewer
// than four are left, the spare lanes hash whatever bytes follow, and their results are ignored.
import { mix } from './blake3-mix'
import { message, nodes, padded, values } from './memory-map'

const chunkSize: i32 = 1024
const blockSize: i32 = 64
const valueSize: i32 = 32

const chunkStart: i32 = 1
const chunkEnd: i32 = 2
const isParent: i32 = 4
const isRoot: i32 = 8

function startValues(): void {
  v128.store(values, i32x4.splat(0x6a09e667))
  v128.store(values, i32x4.splat(0xbb67ae85), 16)
  v128.store(values, i32x4.splat(0x3c6ef372), 32)
  v128.store(values, i32x4.splat(0xa54ff53a), 48)
  v128.store(values, i32x4.splat(0x510e527f), 64)
  v128.store(values, i32x4.splat(0x9b05688c), 80)
  v128.store(values, i32x4.splat(0x1f83d9ab), 96)
  v128.store(values, i32x4.splat(0x5be0cd19), 112)
}

/** Four rows of four words become four columns. */
function transpose(from: usize, stride: usize, to: usize, toStride: usize): void {
  const a = v128.load(from)
  const b = v128.load(from + stride)
  const c = v128.load(from + 2 * stride)
  const d = v128.load(from + 3 * stride)
  const lowAB = v128.shuffle<i32>(a, b, 0, 4, 1, 5)
  const lowCD = v128.shuffle<i32>(c, d, 0, 4, 1, 5)
  const highAB = v128.shuffle<i32>(a, b, 2, 6, 3, 7)
  const highCD = v128.shuffle<i32>(c, d, 2, 6, 3, 7)
  v128.store(to, v128.shuffle<i64>(lowAB, lowCD, 0, 2))
  v128.store(to + toStride, v128.shuffle<i64>(lowAB, lowCD, 1, 3))
  v128.store(to + 2 * toStride, v128.shuffle<i64>(highAB, highCD, 0, 2))
  v128.store(to + 3 * toStride, v128.shuffle<i64>(highAB, highCD, 1, 3))
}

/** Mixes in the next block of each of four lanes that lie `stride` bytes apart. */
function mixLanes(from: usize, stride: usize, counter: v128, counterHigh: i32, length: i32, flags: i32): void {
  transpose(from, stride, message, 16)
  transpose(from + 16, stride, message + 64, 16)
  transpose(from + 32, stride, message + 128, 16)
  transpose(from + 48, stride, message + 192, 16)
  mix(values, message, counter, counterHigh, length, flags)
}

/** Writes the chaining values of the four lanes, one after another. */
function putValues(to: usize): void {
  transpose(values, 16, to, valueSize)
  transpose(values + 64, 16, to + 16, valueSize)
}

function fourChunks(from: usize, counterLow: i32, counterHigh: i32, to: usize): void {
  const counter = i32x4.add(i32x4.splat(counterLow), i32x4(0, 1, 2, 3))
  startValues()
  const last = from + <usize>(chunkSize - blockSize)
  mixLanes(from, chunkSize, counter, counterHigh, blockSize, chunkStart)
  for (let at = from + blockSize; at < last; at += blockSize) {
    mixLanes(at, chunkSize, counter, counterHigh, blockSize, 0)
  }
  mixLanes(last, chunkSize, counter, counterHigh, blockSize, chunkEnd)
  putValues(to)
}

/** The last chunk, which may be short, or the only one. All four lanes do the same work. */
function oneChunk(from: usize, length: i32, counterLow: i32, counterHigh: i32, flags: i32, to: usize): void {
  const counter = i32x4.splat(counterLow)
  startValues()
  let start = chunkStart
  for (; length > blockSize; length -= blockSize) {
    mixLanes(from, 0, counter, counterHigh, blockSize, start)
    from += blockSize
    start = 0
  }
  memory.fill(padded, 0, blockSize)
  memory.copy(padded, from, length)
  mixLanes(padded, 0, counter, counterHigh, length, start | chunkEnd | flags)
  putValues(to)
}

/** Computes the parents of neighbouring values. `to` may be `from`: writing never overtakes reading. */
function pairUp(pairs: i32, from: usize, to: usize, flags: i32): void {
  for (; pairs > 0; pairs -= 4) {
    startValues()
    mixLanes(from, blockSize, i32x4.splat(0), 0, blockSize, isParent | flags)
    putValues(to)
    from += 4 * blockSize
    to += 4 * valueSize
  }
}

/**
 * The chaining value, or with `root` the digest, of `length` bytes that start at chunk number `counter`, a multiple of 64. Returns its
 * address.
 */
export function subtree(from: usize, length: i32, counterLow: i32, counterHigh: i32, root: bool): usize {
  const flags = root ? isRoot : 0
  if (length <= chunkSize) {
    oneChunk(from, length, counterLow, counterHigh, flags, nodes)
    return nodes
  }
  const whole = length / chunkSize
  for (let i = 0; i < whole; i += 4) {
    fourChunks(from + <usize>(i * chunkSize), counterLow + i, counterHigh, nodes + <usize>(i * valueSize))
  }
  let count = whole
  if (length % chunkSize > 0) {
    const at = from + <usize>(whole * chunkSize)
    oneChunk(at, length % chunkSize, counterLow + whole, counterHigh, 0, nodes + <usize>(whole * valueSize))
    count++
  }
  while (count > 2) {
    const pairs = count / 2
    const odd = nodes + <usize>((count - 1) * valueSize)
    const isOdd = count % 2 === 1
    if (isOdd) memory.copy(padded, odd, valueSize) // the spare lanes overwrite it
    pairUp(pairs, nodes, nodes, 0)
    if (isOdd) memory.copy(nodes + <usize>(pairs * valueSize), padded, valueSize)
    count = pairs + (isOdd ? 1 : 0)
  }
  pairUp(1, nodes, nodes, flags)
  return nodes
}

/** The parent of two values that lie one after another at `from`. Returns its address. */
export function parent(from: usize, root: bool): usize {
  pairUp(1, from, nodes, root ? isRoot : 0)
  return nodes
}
