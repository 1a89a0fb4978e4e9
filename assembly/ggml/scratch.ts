// The block that an encoder works on, as f64.
import { splats, values } from './memory-map'

/** The distance from a value to the value less the smallest of its sub-block. */
export const toShifted: usize = 2048

/** The same number in both lanes. Through memory: V8 rebuilds 16-byte constants at every use, but keeps loaded ones in a register. */
export function both(value: f64): v128 {
  store<f64>(splats, value)
  return v128.load64_splat(splats)
}

/** The same for any vector. */
export function kept(vector: v128): v128 {
  v128.store(splats, vector)
  return v128.load(splats)
}

/** Writes a block of 256 f32 to `values`. */
export function widenBlock(source: usize): void {
  for (let i: usize = 0; i < 256; i += 4) {
    const four = v128.load(source + 4 * i)
    v128.store(values + 8 * i, f64x2.promote_low_f32x4(four))
    v128.store(values + 8 * i, f64x2.promote_low_f32x4(i32x4.shuffle(four, four, 2, 3, 0, 1)), 16)
  }
}
