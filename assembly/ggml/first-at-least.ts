// Blocks hold finite values only, so every value is checked before it is encoded.

/** The index of the first value whose magnitude has at least these bits, NaN included; -1 if there is none. */
export function firstAtLeast(values: usize, count: i32, bits: i32): i32 {
  const start = values
  const end = values + ((<usize>count) << 2)
  const below = i32x4.splat(bits - 1)
  const magnitude = i32x4.splat(0x7fffffff)
  for (; values + 64 <= end; values += 64) {
    const a = i32x4.gt_s(v128.and(v128.load(values), magnitude), below)
    const b = i32x4.gt_s(v128.and(v128.load(values, 16), magnitude), below)
    const c = i32x4.gt_s(v128.and(v128.load(values, 32), magnitude), below)
    const d = i32x4.gt_s(v128.and(v128.load(values, 48), magnitude), below)
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) break
  }
  for (; values < end; values += 4) {
    if ((load<i32>(values) & 0x7fffffff) >= bits) return <i32>((values - start) >> 2)
  }
  return -1
}
