// CRC-32 of sixteen slices of the input at once. A vector holds one byte of each; a checksum of 32 bits is four such vectors, the
// lowest byte first. One step of the bytewise method, table[(crc ^ byte) & 255] ^ (crc >> 8), becomes two lookups of half a byte for each
// of the four, and a swizzle does sixteen of those at once. The checksums of the slices are combined as in src/digest/crc32.ts.
import { byteTable, columns, halfTable, rows, sums } from './memory-map'

const polynomial: u32 = 0xedb88320
const lanes: i32 = 16
/** Not a power of two: cache lines that far apart would compete for the same place in the cache. */
const maxSlice: i32 = 4080
/** Below this the bytewise method is as fast. */
const minInput: i32 = 1024

export function prepareTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (polynomial & -(crc & 1))
    store<u32>(byteTable + 4 * byte, crc)
  }
  for (let half: u32 = 0; half < 16; half++) {
    for (let byte: u32 = 0; byte < 4; byte++) {
      store<u8>(halfTable + 32 * byte + half, load<u8>(byteTable + 4 * half + byte))
      store<u8>(halfTable + 32 * byte + half, load<u8>(byteTable + 64 * half + byte), 16)
    }
  }
}

function lowBytes(a: v128, b: v128): v128 {
  return v128.shuffle<i8>(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
}

function highBytes(a: v128, b: v128): v128 {
  return v128.shuffle<i8>(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
}

/**
 * Interleaves the bytes of rows i and i + 8 into rows 2i and 2i + 1, and does so twice. Four times is the transpose of 16 rows of 16 bytes.
 */
function weaveTwice(from: usize, stride: usize, to: usize): void {
  for (let i: usize = 0; i < 4; i++) {
    const a = v128.load(from + i * stride)
    const b = v128.load(from + (i + 4) * stride)
    const c = v128.load(from + (i + 8) * stride)
    const d = v128.load(from + (i + 12) * stride)
    const even = lowBytes(a, c)
    const odd = highBytes(a, c)
    const evenBelow = lowBytes(b, d)
    const oddBelow = highBytes(b, d)
    v128.store(to + 64 * i, lowBytes(even, evenBelow))
    v128.store(to + 64 * i, highBytes(even, evenBelow), 16)
    v128.store(to + 64 * i, lowBytes(odd, oddBelow), 32)
    v128.store(to + 64 * i, highBytes(odd, oddBelow), 48)
  }
}

function lookUp(byte: usize, low: v128, high: v128): v128 {
  return v128.xor(
    i8x16.swizzle(v128.load(halfTable + 32 * byte), low),
    i8x16.swizzle(v128.load(halfTable + 32 * byte + 16), high),
  )
}

/** Writes the checksums of sixteen adjacent slices to `sums`; the first continues from `crc`. */
function sumSlices(crc: u32, from: usize, length: usize): void {
  let c0 = i8x16.replace_lane(i8x16.splat(0), 0, <i8>crc)
  let c1 = i8x16.replace_lane(i8x16.splat(0), 0, <i8>(crc >>> 8))
  let c2 = i8x16.replace_lane(i8x16.splat(0), 0, <i8>(crc >>> 16))
  let c3 = i8x16.replace_lane(i8x16.splat(0), 0, <i8>(crc >>> 24))
  const half = i8x16.splat(15)
  for (const end = from + length; from < end; from += 16) {
    weaveTwice(from, length, rows)
    weaveTwice(rows, 16, columns)
    for (let at = columns; at < columns + 256; at += 16) {
      const index = v128.xor(c0, v128.load(at))
      const low = v128.and(index, half)
      const high = v128.and(i16x8.shr_u(index, 4), half)
      c0 = v128.xor(c1, lookUp(0, low, high))
      c1 = v128.xor(c2, lookUp(1, low, high))
      c2 = v128.xor(c3, lookUp(2, low, high))
      c3 = lookUp(3, low, high)
    }
  }
  v128.store(sums, c0)
  v128.store(sums, c1, 16)
  v128.store(sums, c2, 32)
  v128.store(sums, c3, 48)
}

function multiply(a: u32, b: u32): u32 {
  let product: u32 = 0
  for (let bit: u32 = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= b
    b = (b >>> 1) ^ (polynomial & -(b & 1))
  }
  return product
}

/** x^(8·length), by squaring. */
function shiftBy(length: i32): u32 {
  let result: u32 = 0x80000000
  let power: u32 = 0x00800000 // x^8
  for (let rest = length; rest > 0; rest >>= 1) {
    if ((rest & 1) !== 0) result = multiply(power, result)
    power = multiply(power, power)
  }
  return result
}

let knownLength: i32 = 0
let knownShift: u32 = 0

function joinSums(length: i32): u32 {
  if (length !== knownLength) {
    knownShift = shiftBy(length)
    knownLength = length
  }
  let crc: u32 = 0
  for (let lane: usize = 0; lane < <usize>lanes; lane++) {
    const at = sums + lane
    const own =
      load<u8>(at) | ((<u32>load<u8>(at, 16)) << 8) | ((<u32>load<u8>(at, 32)) << 16) | ((<u32>load<u8>(at, 48)) << 24)
    crc = multiply(knownShift, crc) ^ own
  }
  return crc
}

/** Continues the checksum `crc`, 0 at the start, with `length` bytes. */
export function checksum(crc: u32, from: usize, length: i32): u32 {
  crc = ~crc
  while (length >= minInput) {
    const slice = min(maxSlice, (length / (16 * lanes)) * 16)
    sumSlices(crc, from, slice)
    crc = joinSums(slice)
    from += lanes * slice
    length -= lanes * slice
  }
  for (const end = from + length; from < end; from++) {
    crc = load<u32>(byteTable + 4 * ((crc ^ load<u8>(from)) & 255)) ^ (crc >>> 8)
  }
  return ~crc
}
