// The second pass of statistics over f32: squares of the deviations, summed like the values in the first pass, and the values with a
// marked top digit. Few are marked, so one test of eight marks together nearly always suffices.
import { found, marks, totals } from '../memory-map'

const blockBytes: usize = 4096

/** For pairs of blocks: writes the sum of each block to `totals` and the marked values to `found`. Returns the number of marked values. */
export function addSquares(values: usize, pairs: i32, mean: f64): i32 {
  const center = f64x2.splat(mean)
  let total = totals
  let target = found
  for (; pairs > 0; pairs--) {
    let a = f64x2.splat(0)
    let b = f64x2.splat(0)
    const end = values + blockBytes
    for (; values < end; values += 16) {
      const x = v128.load(values)
      const y = v128.load(values, blockBytes)
      a = f64x2.add(a, square(f64x2.sub(f64x2.promote_low_f32x4(x), center)))
      b = f64x2.add(b, square(f64x2.sub(f64x2.promote_low_f32x4(y), center)))
      a = f64x2.add(a, square(f64x2.sub(f64x2.promote_low_f32x4(i64x2.shuffle(x, x, 1, 0)), center)))
      b = f64x2.add(b, square(f64x2.sub(f64x2.promote_low_f32x4(i64x2.shuffle(y, y, 1, 0)), center)))
      const first = markOf(load<u16>(values, 2)) | markOf(load<u16>(values, 6))
      const second = markOf(load<u16>(values, 10)) | markOf(load<u16>(values, 14))
      const third = markOf(load<u16>(values, blockBytes + 2)) | markOf(load<u16>(values, blockBytes + 6))
      const fourth = markOf(load<u16>(values, blockBytes + 10)) | markOf(load<u16>(values, blockBytes + 14))
      if (first | second | third | fourth) target = listMarked(listMarked(target, values), values + blockBytes)
    }
    store<f64>(total, f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1))
    store<f64>(total, f64x2.extract_lane(b, 0) + f64x2.extract_lane(b, 1), 8)
    total += 16
    values += blockBytes
  }
  return <i32>((target - found) >> 2)
}

/** Appends the marked ones of four values. Without branches, since they would be unpredictable. */
function listMarked(target: usize, values: usize): usize {
  for (const end = values + 16; values < end; values += 4) {
    store<u32>(target, load<u32>(values))
    target += markOf(load<u16>(values, 2)) === 0 ? 0 : 4
  }
  return target
}

function square(v: v128): v128 {
  return f64x2.mul(v, v)
}

function markOf(top: u32): u32 {
  return load<u8>(<usize>top, marks)
}
