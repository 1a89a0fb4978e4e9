// Four sub-blocks side by side. ggml's sums run from the first value of a sub-block to the last, so the lanes of a vector belong to four sub-blocks.
import { columnValues, columnWeights } from '../memory-map'

/** The values of four sub-blocks that lie `size` bytes apart: the vector at 16 · i has the value i of each. */
export function putColumns(source: usize, size: usize, target: usize): void {
  for (let i: usize = 0; i < size; i += 16) {
    const a = v128.load(source + i)
    const b = v128.load(source + size + i)
    const c = v128.load(source + 2 * size + i)
    const d = v128.load(source + 3 * size + i)
    const lowAB = i32x4.shuffle(a, b, 0, 4, 1, 5)
    const lowCD = i32x4.shuffle(c, d, 0, 4, 1, 5)
    const highAB = i32x4.shuffle(a, b, 2, 6, 3, 7)
    const highCD = i32x4.shuffle(c, d, 2, 6, 3, 7)
    const to = target + 4 * i
    v128.store(to, i64x2.shuffle(lowAB, lowCD, 0, 2))
    v128.store(to, i64x2.shuffle(lowAB, lowCD, 1, 3), 16)
    v128.store(to, i64x2.shuffle(highAB, highCD, 0, 2), 32)
    v128.store(to, i64x2.shuffle(highAB, highCD, 1, 3), 48)
  }
}

/** Weights by magnitude; `hasMean` adds the root mean square of each sub-block. */
export function weighByMagnitude(size: usize, hasMean: bool): void {
  const end = size << 2
  let mean = f32x4.splat(0)
  if (hasMean) {
    for (let at: usize = 0; at < end; at += 16) {
      const value = v128.load(columnValues + at)
      mean = f32x4.add(mean, f32x4.mul(value, value))
    }
    mean = f32x4.sqrt(f32x4.div(mean, f32x4.splat(<f32>(size >> 2))))
  }
  for (let at: usize = 0; at < end; at += 16) {
    v128.store(columnWeights + at, f32x4.add(mean, f32x4.abs(v128.load(columnValues + at))))
  }
}

/** The importance of a column times the root of variance plus square. */
export function weighColumns(importance: usize, size: usize, variance: f32): void {
  putColumns(importance, size, columnWeights)
  const added = f32x4.splat(variance)
  for (let at: usize = 0; at < size << 2; at += 16) {
    const value = v128.load(columnValues + at)
    const root = f32x4.sqrt(f32x4.add(added, f32x4.mul(value, value)))
    v128.store(columnWeights + at, f32x4.mul(v128.load(columnWeights + at), root))
  }
}

/** Of 256 values, from the first to the last. */
export function sumOfSquares(source: usize): f32 {
  let sum: f32 = 0
  for (let i: usize = 0; i < 1024; i += 4) sum += load<f32>(source + i) * load<f32>(source + i)
  return sum
}
