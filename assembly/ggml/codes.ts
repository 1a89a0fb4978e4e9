// Values to codes under the scale that a reader will see, and codes to bytes.
import { both, codes } from './room'
import { roundUp2 } from './whole'

/** Codes of one sub-block: the nearest to (value + min) / scale in [0, limit]. Without a scale every code means the same. */
export function roundCodes(values: usize, first: usize, count: usize, scale: f64, min: f64, limit: f64): void {
  if (scale === 0) {
    memory.fill(codes + first, 0, count)
    return
  }
  const divisor = both(scale)
  const shift = both(min)
  const top = both(limit)
  for (let i: usize = 0; i < count; i += 4) {
    const at = values + ((first + i) << 3)
    const low = codesOf(f64x2.div(f64x2.add(v128.load(at), shift), divisor), top)
    const high = codesOf(f64x2.div(f64x2.add(v128.load(at, 16), shift), divisor), top)
    const four = i8x16.shuffle(low, high, 0, 4, 16, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    v128.store32_lane(codes + first + i, four, 0)
  }
}

/** What is no number becomes 0. */
function codesOf(places: v128, top: v128): v128 {
  return i32x4.trunc_sat_f64x2_s_zero(f64x2.max(f64x2.splat(0), f64x2.min(top, roundUp2(places))))
}
