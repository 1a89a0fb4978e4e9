// Vectors of a lattice for eight or four values: the tables of one lattice, which lie in a window of the arena, and the search among candidates
// for points that the lattice does not have. Lists of candidates are made when a point first occurs.
import { latticeDigits, latticeDistances, latticeEntries, latticeLevels, latticeSeen } from './memory-map'

/** The tables that kernels work with, once they are chosen. */
let tables: usize = 0
let entries: usize = 0
let vectors: usize = 0
let levels: usize = 0
/** Components per vector: 4 or 8. */
let width: usize = 0

/** Chooses the tables that a kernel works with. */
export function useLattice(at: usize): void {
  tables = at
  entries = at + latticeEntries
  vectors = at + latticeDigits
  levels = at + latticeLevels
  width = load<u32>(at, 4)
}

/**
 * Makes the tables of a lattice in a window. The digits of its `count` vectors are in place; digit n stands for step · n + lowest. Candidates come
 * from so many of the smallest `distances`.
 */
export function prepareLattice(
  at: usize,
  size: usize,
  count: i32,
  components: i32,
  distances: i32,
  step: f32,
  lowest: f32,
): void {
  store<u32>(at, count)
  store<u32>(at, components, 4)
  store<u32>(at, distances, 8)
  useLattice(at)
  store<usize>(at, firstList(), 12)
  store<usize>(at, at + size, 16)
  memory.fill(entries, 0, latticeDigits - latticeEntries)
  for (let i = 0; i < count; i++) store<u32>(entryOf(vectors + <usize>(i * components)), (i << 1) | 1)
  for (let i: usize = 0; i < <usize>(count * components); i++) {
    store<f32>(levels + 4 * i, step * <f32>load<u8>(vectors + i) + lowest)
  }
}

/** Where lists of candidates begin: after the levels. */
function firstList(): usize {
  return levels + 4 * width * load<u32>(tables)
}

/** Where the entry of a point is. The digits of four components become one number by multiplication: they end up in the highest byte. */
function entryOf(digits: usize): usize {
  const low = load<u32>(digits)
  let key = low
  if (width === 8) {
    key = ((low * 0x0103091b) >> 24) + 81 * ((load<u32>(digits, 4) * 0x0103091b) >> 24)
  } else {
    key = (key | (key >> 5)) & 0x003f003f
    key = (key | (key >> 10)) & 0xfff
  }
  return entries + ((<usize>key) << 2)
}

/** The index of a vector, or -1 if the lattice does not have it. */
export function indexOf(digits: usize): i32 {
  const entry = load<u32>(entryOf(digits))
  return entry & 1 ? entry >> 1 : -1
}

/**
 * The index of the vector for digits that were rounded component by component: its own, or that of the candidate with the smallest weighted error.
 * The digits become those of the vector. `shift` is added to all levels.
 */
export function nearestVector(digits: usize, values: usize, weights: usize, scale: f32, shift: f32): i32 {
  const place = entryOf(digits)
  const entry = load<u32>(place)
  if (entry & 1) return entry >> 1
  const list = entry ? <usize>entry : findCandidates(digits, place)
  const offset = width === 8 ? search8(list, values, weights, scale, shift) : search4(list, values, weights, scale)
  const from = vectors + (offset >> 2)
  if (width === 8) store<u64>(digits, load<u64>(from))
  else store<u32>(digits, load<u32>(from))
  return <i32>(offset >> (width === 8 ? 5 : 4))
}

/** Weighted squared errors of four components with the levels at `at`. */
function termsOf(at: usize, values: v128, weights: v128, scale: v128, shift: v128): v128 {
  const rest = f32x4.sub(f32x4.mul(scale, f32x4.add(v128.load(at), shift)), values)
  return f32x4.mul(f32x4.mul(weights, rest), rest)
}

/** Four candidates side by side. The terms of each are added from its first component to its last. */
function search8(list: usize, values: usize, weights: usize, scale: f32, shift: f32): usize {
  const x = v128.load(values)
  const y = v128.load(values, 16)
  const w = v128.load(weights)
  const v = v128.load(weights, 16)
  const by = f32x4.splat(scale)
  const up = f32x4.splat(shift)
  const first = list + 8
  const end = first + load<u32>(list)
  let least = f32x4.splat(f32.MAX_VALUE)
  let best = i32x4.splat(<i32>first)
  for (let at = first; at < end; at += 8) {
    const a = levels + <usize>load<u16>(at)
    const b = levels + <usize>load<u16>(at, 2)
    const c = levels + <usize>load<u16>(at, 4)
    const d = levels + <usize>load<u16>(at, 6)
    let errors = addTerms(
      termsOf(a, x, w, by, up),
      termsOf(b, x, w, by, up),
      termsOf(c, x, w, by, up),
      termsOf(d, x, w, by, up),
    )
    errors = addMore(
      errors,
      termsOf(a + 16, y, v, by, up),
      termsOf(b + 16, y, v, by, up),
      termsOf(c + 16, y, v, by, up),
      termsOf(d + 16, y, v, by, up),
    )
    best = v128.bitselect(i32x4.splat(<i32>at), best, f32x4.lt(errors, least))
    least = f32x4.pmin(least, errors)
  }
  return bestOf(least, best)
}

function search4(list: usize, values: usize, weights: usize, scale: f32): usize {
  const x = v128.load(values)
  const w = v128.load(weights)
  const by = f32x4.splat(scale)
  const first = list + 8
  const end = first + load<u32>(list)
  let least = f32x4.splat(f32.MAX_VALUE)
  let best = i32x4.splat(<i32>first)
  for (let at = first; at < end; at += 8) {
    const errors = addTerms(
      plainTermsOf(levels + <usize>load<u16>(at), x, w, by),
      plainTermsOf(levels + <usize>load<u16>(at, 2), x, w, by),
      plainTermsOf(levels + <usize>load<u16>(at, 4), x, w, by),
      plainTermsOf(levels + <usize>load<u16>(at, 6), x, w, by),
    )
    best = v128.bitselect(i32x4.splat(<i32>at), best, f32x4.lt(errors, least))
    least = f32x4.pmin(least, errors)
  }
  return bestOf(least, best)
}

function plainTermsOf(at: usize, values: v128, weights: v128, scale: v128): v128 {
  const rest = f32x4.sub(f32x4.mul(scale, v128.load(at)), values)
  return f32x4.mul(f32x4.mul(weights, rest), rest)
}

/** The terms of four candidates become columns, which are added. */
function addTerms(a: v128, b: v128, c: v128, d: v128): v128 {
  const low = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const high = i32x4.shuffle(a, b, 2, 6, 3, 7)
  const otherLow = i32x4.shuffle(c, d, 0, 4, 1, 5)
  const otherHigh = i32x4.shuffle(c, d, 2, 6, 3, 7)
  const pair = f32x4.add(i64x2.shuffle(low, otherLow, 0, 2), i64x2.shuffle(low, otherLow, 1, 3))
  return f32x4.add(f32x4.add(pair, i64x2.shuffle(high, otherHigh, 0, 2)), i64x2.shuffle(high, otherHigh, 1, 3))
}

function addMore(sums: v128, a: v128, b: v128, c: v128, d: v128): v128 {
  const low = i32x4.shuffle(a, b, 0, 4, 1, 5)
  const high = i32x4.shuffle(a, b, 2, 6, 3, 7)
  const otherLow = i32x4.shuffle(c, d, 0, 4, 1, 5)
  const otherHigh = i32x4.shuffle(c, d, 2, 6, 3, 7)
  const pair = f32x4.add(f32x4.add(sums, i64x2.shuffle(low, otherLow, 0, 2)), i64x2.shuffle(low, otherLow, 1, 3))
  return f32x4.add(f32x4.add(pair, i64x2.shuffle(high, otherHigh, 0, 2)), i64x2.shuffle(high, otherHigh, 1, 3))
}

/** The first in the list of those with the least error: `best` has for each lane where the four are among which its candidate is. */
function bestOf(least: v128, best: v128): usize {
  let error = f32x4.extract_lane(least, 0)
  let place = <usize>i32x4.extract_lane(best, 0)
  const a = f32x4.extract_lane(least, 1)
  const atA = <usize>i32x4.extract_lane(best, 1) + 2
  if (a < error || (a === error && atA < place)) {
    error = a
    place = atA
  }
  const b = f32x4.extract_lane(least, 2)
  const atB = <usize>i32x4.extract_lane(best, 2) + 4
  if (b < error || (b === error && atB < place)) {
    error = b
    place = atB
  }
  const c = f32x4.extract_lane(least, 3)
  const atC = <usize>i32x4.extract_lane(best, 3) + 6
  if (c < error || (c === error && atC < place)) place = atC
  return <usize>load<u16>(place)
}

/**
 * Lists the vectors nearest to a point, by distance, then by index, and remembers the list in the entry at `place`. A list is its length in bytes,
 * then where each vector's levels are; the last one is repeated until there are whole fours.
 */
function findCandidates(point: usize, place: usize): usize {
  const count = <usize>load<u32>(tables)
  let list = load<usize>(tables, 12)
  // Where there is no more room, all lists are forgotten.
  if (list + 16 + 2 * count > load<usize>(tables, 16)) {
    forgetLists()
    list = firstList()
  }
  measure(point, count)
  let at = list + 8
  let left = load<u32>(tables, 8)
  for (let distance: i32 = 0; distance < 256 && left > 0; distance++) {
    if (!load<u8>(latticeSeen + distance)) continue
    left--
    const wanted = i8x16.splat(<i8>distance)
    for (let i: usize = 0; i < count; i += 16) {
      let mask = i8x16.bitmask(i8x16.eq(v128.load(tables + latticeDistances + i), wanted))
      for (; mask; mask &= mask - 1) {
        store<u16>(at, <u16>((i + <usize>ctz(mask)) * 4 * width))
        at += 2
      }
    }
  }
  for (const last = load<u16>(at - 2); (at - list) & 7; at += 2) store<u16>(at, last)
  store<u32>(list, <u32>(at - list - 8))
  store<usize>(tables, at, 12)
  store<u32>(place, <u32>list)
  return list
}

function forgetLists(): void {
  for (let at = entries; at < vectors; at += 4) if (!(load<u32>(at) & 1)) store<u32>(at, 0)
}

/** The squared distance of every vector from a point, and which of them occur. */
function measure(point: usize, count: usize): void {
  memory.fill(latticeSeen, 0, 256)
  const from = width === 8 ? v128.load64_splat(point) : v128.load32_splat(point)
  const ones = i16x8.splat(1)
  let target = tables + latticeDistances
  for (let at = vectors; at < vectors + width * count; at += 16) {
    const steps = i8x16.sub(v128.load(at), from)
    const first = i32x4.dot_i16x8_s(i16x8.extmul_low_i8x16_s(steps, steps), ones)
    const second = i32x4.dot_i16x8_s(i16x8.extmul_high_i8x16_s(steps, steps), ones)
    const fours = i32x4.add(i32x4.shuffle(first, second, 0, 2, 4, 6), i32x4.shuffle(first, second, 1, 3, 5, 7))
    const a = i32x4.extract_lane(fours, 0)
    const b = i32x4.extract_lane(fours, 1)
    const c = i32x4.extract_lane(fours, 2)
    const d = i32x4.extract_lane(fours, 3)
    if (width === 8) {
      putDistance(target, a + b)
      putDistance(target + 1, c + d)
      target += 2
    } else {
      putDistance(target, a)
      putDistance(target + 1, b)
      putDistance(target + 2, c)
      putDistance(target + 3, d)
      target += 4
    }
  }
}

function putDistance(at: usize, distance: i32): void {
  store<u8>(at, <u8>distance)
  store<u8>(latticeSeen + <usize>distance, 1)
}
