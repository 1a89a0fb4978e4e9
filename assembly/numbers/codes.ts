// Codes of 8, 6, 4, 2 and 1 bit to f32 and back, by tables. The decoding table has the values of all codes in a byte, lowest bits first, so that
// a byte takes one lookup of 4 to 32 bytes. Two codes of 6 bits are looked up together.
import { codeTable, table } from './memory-map'

/** `size`: bytes of the source, a multiple of four, or of twelve for 6 bits. */
export function codesToF32(bits: i32, source: usize, target: usize, size: i32): void {
  if (bits === 8) codes8ToF32(source, target, size)
  else if (bits === 6) codes6ToF32(source, target, size)
  else if (bits === 4) codes4ToF32(source, target, size)
  else if (bits === 2) codes2ToF32(source, target, size)
  else codes1ToF32(source, target, size)
}

function codes8ToF32(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 4) {
    store<u32>(target, load<u32>((<usize>load<u8>(source)) << 2, table))
    store<u32>(target, load<u32>((<usize>load<u8>(source, 1)) << 2, table), 4)
    store<u32>(target, load<u32>((<usize>load<u8>(source, 2)) << 2, table), 8)
    store<u32>(target, load<u32>((<usize>load<u8>(source, 3)) << 2, table), 12)
    target += 16
  }
}

function codes6ToF32(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 12) {
    const first = load<u64>(source)
    const last = load<u64>(source, 4) >> 8
    store<u64>(target, load<u64>((<usize>(first & 0xfff)) << 3, table))
    store<u64>(target, load<u64>((<usize>((first >> 12) & 0xfff)) << 3, table), 8)
    store<u64>(target, load<u64>((<usize>((first >> 24) & 0xfff)) << 3, table), 16)
    store<u64>(target, load<u64>((<usize>((first >> 36) & 0xfff)) << 3, table), 24)
    store<u64>(target, load<u64>((<usize>((last >> 8) & 0xfff)) << 3, table), 32)
    store<u64>(target, load<u64>((<usize>((last >> 20) & 0xfff)) << 3, table), 40)
    store<u64>(target, load<u64>((<usize>((last >> 32) & 0xfff)) << 3, table), 48)
    store<u64>(target, load<u64>((<usize>((last >> 44) & 0xfff)) << 3, table), 56)
    target += 64
  }
}

function codes4ToF32(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 4) {
    store<u64>(target, load<u64>((<usize>load<u8>(source)) << 3, table))
    store<u64>(target, load<u64>((<usize>load<u8>(source, 1)) << 3, table), 8)
    store<u64>(target, load<u64>((<usize>load<u8>(source, 2)) << 3, table), 16)
    store<u64>(target, load<u64>((<usize>load<u8>(source, 3)) << 3, table), 24)
    target += 32
  }
}

function codes2ToF32(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 4) {
    v128.store(target, v128.load((<usize>load<u8>(source)) << 4, table))
    v128.store(target, v128.load((<usize>load<u8>(source, 1)) << 4, table), 16)
    v128.store(target, v128.load((<usize>load<u8>(source, 2)) << 4, table), 32)
    v128.store(target, v128.load((<usize>load<u8>(source, 3)) << 4, table), 48)
    target += 64
  }
}

function codes1ToF32(source: usize, target: usize, size: i32): void {
  for (const end = source + size; source < end; source += 2) {
    const first = (<usize>load<u8>(source)) << 5
    const second = (<usize>load<u8>(source, 1)) << 5
    v128.store(target, v128.load(first, table))
    v128.store(target, v128.load(first, table + 16), 16)
    v128.store(target, v128.load(second, table), 32)
    v128.store(target, v128.load(second, table + 16), 48)
    target += 64
  }
}

/**
 * f32 to floats of up to eight bits, one code per byte. These round within the upper half of an f32, so the lower half only matters as a sticky
 * bit: the upper half, its last bit set if any lower bit is, is the index into a table of u16. Returns all codes or-ed together: more than
 * eight bits mean that some value has no code. `count` is a multiple of four.
 */
export function f32ToCodes(source: usize, target: usize, count: i32): u32 {
  let all: u32 = 0
  for (const end = target + count; target < end; target += 4) {
    const a = codeOf(load<u32>(source))
    const b = codeOf(load<u32>(source, 4))
    const c = codeOf(load<u32>(source, 8))
    const d = codeOf(load<u32>(source, 12))
    all |= a | b | c | d
    store<u32>(target, a | (b << 8) | (c << 16) | (d << 24))
    source += 16
  }
  return all
}

function codeOf(bits: u32): u32 {
  const upper = (bits >> 16) | <u32>((bits & 0xffff) !== 0)
  return load<u16>((<usize>upper) << 1, codeTable)
}
