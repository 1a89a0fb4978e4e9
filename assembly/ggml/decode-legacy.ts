// Blocks of 32 values: an f16 scale, then the codes.
import { f16At, highNibbles, lowNibbles, putScaled } from './lanes'

export function decodeQ4_0(source: usize, target: usize, blocks: i32): void {
  const middle = i8x16.splat(8)
  for (; blocks > 0; blocks--) {
    const factor = f32x4.splat(f16At(source))
    const codes = v128.load(source, 2)
    putScaled(i8x16.sub(lowNibbles(codes), middle), factor, target)
    putScaled(i8x16.sub(highNibbles(codes), middle), factor, target + 64)
    source += 18
    target += 128
  }
}

export function decodeQ8_0(source: usize, target: usize, blocks: i32): void {
  for (; blocks > 0; blocks--) {
    const factor = f32x4.splat(f16At(source))
    putScaled(v128.load(source, 2), factor, target)
    putScaled(v128.load(source, 18), factor, target + 64)
    source += 34
    target += 128
  }
}
