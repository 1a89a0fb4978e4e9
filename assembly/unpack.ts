// Codes to values. A word of four bytes is put into all four lanes; multiplying shifts each lane's code to the top, and an arithmetic
// shift brings it down again with its sign. Words may reach past the last code: the memory behind belongs to us.

export function unpack(bits: i32, codes: usize, scales: usize, target: usize, blocks: i32): void {
  if (bits === 8) unpack8(codes, scales, target, blocks)
  else if (bits === 6) unpackWords(codes, scales, target, blocks, 3, i32x4(1 << 26, 1 << 20, 1 << 14, 1 << 8), 26)
  else if (bits === 4) unpackWords(codes, scales, target, blocks, 2, i32x4(1 << 28, 1 << 24, 1 << 20, 1 << 16), 28)
  else if (bits === 2) unpackWords(codes, scales, target, blocks, 1, i32x4(1 << 30, 1 << 28, 1 << 26, 1 << 24), 30)
  else unpack3(codes, scales, target, blocks)
}

function unpack8(codes: usize, scales: usize, target: usize, blocks: i32): void {
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    if (scale === 0) memory.fill(target, 0, 128)
    else {
      for (let at: usize = 0; at < 32; at += 8) {
        const wide = v128.load_ext<i8>(codes + at)
        const low = f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(wide))
        const high = f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(wide))
        v128.store(target + 4 * at, f32x4.mul(low, factor))
        v128.store(target + 4 * at, f32x4.mul(high, factor), 16)
      }
      if (scale - scale !== 0) settleNaNs(target)
    }
    codes += 32
    scales += 4
    target += 128
  }
}

/** Types whose every four codes fill whole bytes. */
function unpackWords(
  codes: usize,
  scales: usize,
  target: usize,
  blocks: i32,
  stride: usize,
  multipliers: v128,
  shift: i32,
): void {
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    if (scale === 0) {
      memory.fill(target, 0, 128)
      codes += 8 * stride
    } else {
      for (let at: usize = 0; at < 128; at += 32) {
        const first = i32x4.shr_s(i32x4.mul(v128.load_splat<u32>(codes), multipliers), shift)
        const second = i32x4.shr_s(i32x4.mul(v128.load_splat<u32>(codes + stride), multipliers), shift)
        v128.store(target + at, f32x4.mul(f32x4.convert_i32x4_s(first), factor))
        v128.store(target + at, f32x4.mul(f32x4.convert_i32x4_s(second), factor), 16)
        codes += 2 * stride
      }
      if (scale - scale !== 0) settleNaNs(target)
    }
    scales += 4
    target += 128
  }
}

function unpack3(codes: usize, scales: usize, target: usize, blocks: i32): void {
  const low = i32x4(1 << 29, 1 << 26, 1 << 23, 1 << 20)
  const high = i32x4(1 << 17, 1 << 14, 1 << 11, 1 << 8)
  for (let block = 0; block < blocks; block++) {
    const scale = load<f32>(scales)
    const factor = f32x4.splat(scale)
    if (scale === 0) {
      memory.fill(target, 0, 128)
      codes += 12
    } else {
      for (let at: usize = 0; at < 128; at += 32) {
        const word = v128.load_splat<u32>(codes)
        v128.store(target + at, f32x4.mul(f32x4.convert_i32x4_s(i32x4.shr_s(i32x4.mul(word, low), 29)), factor))
        v128.store(target + at, f32x4.mul(f32x4.convert_i32x4_s(i32x4.shr_s(i32x4.mul(word, high), 29)), factor), 16)
        codes += 3
      }
      if (scale - scale !== 0) settleNaNs(target)
    }
    scales += 4
    target += 128
  }
}

/** Which NaN comes out of a product depends on the processor: one pattern stands for all. */
function settleNaNs(target: usize): void {
  const quiet = i32x4.splat(0x7fc00000)
  for (let at: usize = 0; at < 128; at += 16) {
    const v = v128.load(target + at)
    v128.store(target + at, v128.bitselect(quiet, v, f32x4.ne(v, v)))
  }
}
