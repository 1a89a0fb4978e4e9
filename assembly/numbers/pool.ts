// Pools f32 values: minimum, maximum, sum, sum of squares and number of the finite values in each cell of a grid. A cell is some columns of
// some rows. Four neighbouring columns are processed side by side; the sums of the four lanes stay apart until the cell is done, as in the
// plain twin, so that the result is equal to the last bit.

/** Bytes that a cell has in the table: minimum and maximum (f32), sum, sum of squares and count (f64). */
const cellBytes: usize = 32

/**
 * For `rows` rows, `pitch` bytes apart: adds the columns between each edge (u32, in values) and the next to the cells at `target`. There is
 * one edge more than there are cells.
 */
export function poolCells(values: usize, pitch: usize, rows: i32, edges: usize, cells: i32, target: usize): void {
  for (; cells > 0; cells--) {
    const start = (<usize>load<u32>(edges)) << 2
    const end = (<usize>load<u32>(edges, 4)) << 2
    poolCell(values + start, pitch, rows, end - start, target)
    edges += 4
    target += cellBytes
  }
}

function poolCell(values: usize, pitch: usize, rows: i32, length: usize, target: usize): void {
  let low = f32x4.splat(Infinity)
  let high = f32x4.splat(-Infinity)
  let sumA = f64x2.splat(0)
  let sumB = f64x2.splat(0)
  let squaresA = f64x2.splat(0)
  let squaresB = f64x2.splat(0)
  let count = i32x4.splat(0)
  for (; rows > 0; rows--) {
    for (let at: usize = 0; at < length; at += 16) {
      // Lanes beyond the end hold NaN, which is not counted.
      const x = length - at >= 16 ? v128.load(values + at) : lastLanes(values + at, length - at)
      const finite = f32x4.lt(f32x4.abs(x), f32x4.splat(Infinity))
      const y = v128.and(x, finite)
      low = f32x4.pmin(low, v128.bitselect(x, f32x4.splat(Infinity), finite))
      high = f32x4.pmax(high, v128.bitselect(x, f32x4.splat(-Infinity), finite))
      const a = f64x2.promote_low_f32x4(y)
      const b = f64x2.promote_low_f32x4(i64x2.shuffle(y, y, 1, 0))
      sumA = f64x2.add(sumA, a)
      sumB = f64x2.add(sumB, b)
      squaresA = f64x2.add(squaresA, f64x2.mul(a, a))
      squaresB = f64x2.add(squaresB, f64x2.mul(b, b))
      count = i32x4.sub(count, finite)
    }
    values += pitch
  }
  store<f32>(target, least(load<f32>(target), low))
  store<f32>(target, greatest(load<f32>(target, 4), high), 4)
  store<f64>(target, load<f64>(target, 8) + addLanes(sumA, sumB), 8)
  store<f64>(target, load<f64>(target, 16) + addLanes(squaresA, squaresB), 16)
  const counted = i32x4.add(count, i32x4.shuffle(count, count, 2, 3, 0, 1))
  const all = i32x4.extract_lane(counted, 0) + i32x4.extract_lane(counted, 1)
  store<f64>(target, load<f64>(target, 24) + <f64>all, 24)
}

/** One to three values, and NaN behind them. */
function lastLanes(at: usize, length: usize): v128 {
  const nan = f32x4.splat(NaN)
  const x = v128.load_lane<u32>(at, nan, 0)
  if (length === 4) return x
  const y = v128.load_lane<u32>(at, x, 1, 4)
  return length === 8 ? y : v128.load_lane<u32>(at, y, 2, 8)
}

function addLanes(a: v128, b: v128): f64 {
  return f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1) + (f64x2.extract_lane(b, 0) + f64x2.extract_lane(b, 1))
}

function least(start: f32, v: v128): f32 {
  let x = start
  if (f32x4.extract_lane(v, 0) < x) x = f32x4.extract_lane(v, 0)
  if (f32x4.extract_lane(v, 1) < x) x = f32x4.extract_lane(v, 1)
  if (f32x4.extract_lane(v, 2) < x) x = f32x4.extract_lane(v, 2)
  if (f32x4.extract_lane(v, 3) < x) x = f32x4.extract_lane(v, 3)
  return x
}

function greatest(start: f32, v: v128): f32 {
  let x = start
  if (f32x4.extract_lane(v, 0) > x) x = f32x4.extract_lane(v, 0)
  if (f32x4.extract_lane(v, 1) > x) x = f32x4.extract_lane(v, 1)
  if (f32x4.extract_lane(v, 2) > x) x = f32x4.extract_lane(v, 2)
  if (f32x4.extract_lane(v, 3) > x) x = f32x4.extract_lane(v, 3)
  return x
}
