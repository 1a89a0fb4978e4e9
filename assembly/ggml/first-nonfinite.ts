// Blocks hold finite values only, so every value is checked before it is encoded.
const unbounded: u32 = 0x7f800000

/** The index of the first value that is infinite or NaN: all bits of its exponent are set. -1 if there is none. */
export function firstNonFinite(values: usize, count: i32): i32 {
  const start = values
  const end = values + ((<usize>count) << 2)
  const exponent = i32x4.splat(unbounded)
  for (; values + 64 <= end; values += 64) {
    const a = isNonFinite(v128.load(values), exponent)
    const b = isNonFinite(v128.load(values, 16), exponent)
    const c = isNonFinite(v128.load(values, 32), exponent)
    const d = isNonFinite(v128.load(values, 48), exponent)
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) break
  }
  for (; values < end; values += 4) {
    if ((load<u32>(values) & unbounded) === unbounded) return <i32>((values - start) >> 2)
  }
  return -1
}

function isNonFinite(four: v128, exponent: v128): v128 {
  return i32x4.eq(v128.and(four, exponent), exponent)
}
