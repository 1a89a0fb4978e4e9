// Codes to values. A word of four bytes is put into all four lanes; multiplying shifts each lane's code to the top, and an arithmetic
// shift brings it down again with its sign. Words may reach past the last code; that memory is ours as well.

import { multiplierTable } from './memory-map'

export function unpack(bits: i32, codes: usize, scales: usize, target: usize, blocks: i32): void {
  if (bits === 8) unpack8(codes, scales, target, blocks)
  else if (bits === 6) unpack6(codes, scales, target, blocks)
  else if (bits === 4) unpack4(codes, scales, target, blocks)
  else if (bits === 3) unpack3(codes, scales, target, blocks)
  else unpack2(codes, scales, target, blocks)
}

/** Eight codes of a byte each. */
function put8(codes: usize, factor: v128, target: usize): void {
  const wide = v128.load_ext<i8>(codes)
  v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(wide)), factor))
  v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(wide)), factor), 16)
}

function put(word: v128, multipliers: v128, shift: i32, factor: v128, target: usize): void {
  const code = i32x4.shr_s(i32x4.mul(word, multipliers), shift)
  v128.store(target, f32x4.mul(f32x4.convert_i32x4_s(code), factor))
}

/** A zero scale gives zeros, never minus zeros; an infinite one gives a single NaN pattern. */
function settle(scale: f32, target: usize): void {
  if (scale === 0) memory.fill(target, 0, 128)
  else if (scale - scale !== 0) settleNaNs(target)
}

function unpack8(codes: usize, scales: usize, target: usize, blocks: i32): void {
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    put8(codes, factor, target)
    put8(codes + 8, factor, target + 32)
    put8(codes + 16, factor, target + 64)
    put8(codes + 24, factor, target + 96)
    settle(scale, target)
    codes += 32
    scales += 4
    target += 128
  }
}

function unpack6(codes: usize, scales: usize, target: usize, blocks: i32): void {
  v128.store(multiplierTable, i32x4(1 << 26, 1 << 20, 1 << 14, 1 << 8))
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    const first = v128.load(multiplierTable)
    put(v128.load_splat<u32>(codes), first, 26, factor, target)
    put(v128.load_splat<u32>(codes + 3), first, 26, factor, target + 16)
    put(v128.load_splat<u32>(codes + 6), first, 26, factor, target + 32)
    put(v128.load_splat<u32>(codes + 9), first, 26, factor, target + 48)
    put(v128.load_splat<u32>(codes + 12), first, 26, factor, target + 64)
    put(v128.load_splat<u32>(codes + 15), first, 26, factor, target + 80)
    put(v128.load_splat<u32>(codes + 18), first, 26, factor, target + 96)
    put(v128.load_splat<u32>(codes + 21), first, 26, factor, target + 112)
    settle(scale, target)
    codes += 24
    scales += 4
    target += 128
  }
}

function unpack4(codes: usize, scales: usize, target: usize, blocks: i32): void {
  v128.store(multiplierTable, i32x4(1 << 28, 1 << 24, 1 << 20, 1 << 16))
  v128.store(multiplierTable, i32x4(1 << 12, 1 << 8, 1 << 4, 1), 16)
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    const first = v128.load(multiplierTable)
    const second = v128.load(multiplierTable, 16)
    for (let at: usize = 0; at < 4; at++) {
      const word = v128.load_splat<u32>(codes + 4 * at)
      put(word, first, 28, factor, target + 32 * at)
      put(word, second, 28, factor, target + 32 * at + 16)
    }
    settle(scale, target)
    codes += 16
    scales += 4
    target += 128
  }
}

function unpack3(codes: usize, scales: usize, target: usize, blocks: i32): void {
  v128.store(multiplierTable, i32x4(1 << 29, 1 << 26, 1 << 23, 1 << 20))
  v128.store(multiplierTable, i32x4(1 << 17, 1 << 14, 1 << 11, 1 << 8), 16)
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    const first = v128.load(multiplierTable)
    const second = v128.load(multiplierTable, 16)
    for (let at: usize = 0; at < 4; at++) {
      const word = v128.load_splat<u32>(codes + 3 * at)
      put(word, first, 29, factor, target + 32 * at)
      put(word, second, 29, factor, target + 32 * at + 16)
    }
    settle(scale, target)
    codes += 12
    scales += 4
    target += 128
  }
}

function unpack2(codes: usize, scales: usize, target: usize, blocks: i32): void {
  v128.store(multiplierTable, i32x4(1 << 30, 1 << 28, 1 << 26, 1 << 24))
  v128.store(multiplierTable, i32x4(1 << 22, 1 << 20, 1 << 18, 1 << 16), 16)
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    const first = v128.load(multiplierTable)
    const second = v128.load(multiplierTable, 16)
    for (let at: usize = 0; at < 4; at++) {
      const word = v128.load_splat<u32>(codes + 2 * at)
      put(word, first, 30, factor, target + 32 * at)
      put(word, second, 30, factor, target + 32 * at + 16)
    }
    settle(scale, target)
    codes += 8
    scales += 4
    target += 128
  }
}

/** Codes with one scale and one zero point for all, 32 at a time: scale · (code − zero). Both are finite. */
export function unpackRaw(bits: i32, codes: usize, scale: f32, zero: f32, target: usize, blocks: i32): void {
  const factor = f32x4.splat(scale)
  const offset = f32x4.splat(zero)
  const end = target + 128 * blocks
  if (bits === 8) {
    for (; target < end; target += 32) {
      const wide = v128.load_ext<i8>(codes)
      const low = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(wide))
      const high = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(wide))
      v128.store(target, f32x4.mul(f32x4.sub(low, offset), factor))
      v128.store(target, f32x4.mul(f32x4.sub(high, offset), factor), 16)
      codes += 8
    }
    return
  }
  v128.store(multiplierTable, i32x4(1 << 28, 1 << 24, 1 << 20, 1 << 16))
  v128.store(multiplierTable, i32x4(1 << 12, 1 << 8, 1 << 4, 1), 16)
  for (; target < end; target += 32) {
    const word = v128.load_splat<u32>(codes)
    const low = i32x4.shr_s(i32x4.mul(word, v128.load(multiplierTable)), 28)
    const high = i32x4.shr_s(i32x4.mul(word, v128.load(multiplierTable, 16)), 28)
    v128.store(target, f32x4.mul(f32x4.sub(f32x4.convert_i32x4_s(low), offset), factor))
    v128.store(target, f32x4.mul(f32x4.sub(f32x4.convert_i32x4_s(high), offset), factor), 16)
    codes += 4
  }
}

/** Which NaN a product gives depends on the processor: replace it by one pattern. */
function settleNaNs(target: usize): void {
  const quiet = i32x4.splat(0x7fc00000)
  for (let at: usize = 0; at < 128; at += 16) {
    const v = v128.load(target + at)
    v128.store(target + at, v128.bitselect(quiet, v, f32x4.ne(v, v)))
  }
}
