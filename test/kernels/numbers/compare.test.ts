import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  compareWindows,
  createMeter,
  distanceOf,
  type Meter,
  mergeMeter,
} from '../../../src/kernels/numbers/compare.js'
import { sumOf } from '../../../src/kernels/numbers/stats/sum.js'

const close = { abs: 0.25, rel: 1e-3 }

/** The definition, one element after the other. */
function plainly(a: Float64Array, b: Float64Array, width: number) {
  const differs = (x: number, y: number): boolean => x !== y && !(Number.isNaN(x) && Number.isNaN(y))
  const elements = new Map<number, { beyond: boolean; special: boolean }>()
  const sums = { error: 0, before: 0, after: 0, product: 0, finite: 0 }
  let [maxAbs, maxRel] = [0, 0]
  for (const [i, x] of a.entries()) {
    const y = b[i]!
    const areFinite = Number.isFinite(x) && Number.isFinite(y)
    const size = Math.max(Math.abs(x), Math.abs(y))
    if (areFinite) {
      sums.error += (x - y) ** 2
      sums.before += x * x
      sums.after += y * y
      sums.product += x * y
      sums.finite++
    }
    if (!differs(x, y)) continue
    const distance = Math.abs(x - y)
    if (!Number.isNaN(distance)) maxAbs = Math.max(maxAbs, distance)
    if (areFinite) maxRel = Math.max(maxRel, distance / size)
    const element = Math.floor(i / width)
    const known = elements.get(element)
    elements.set(element, {
      beyond: known?.beyond || !areFinite || distance > close.abs + close.rel * size,
      special: known?.special || !areFinite,
    })
  }
  const all = [...elements.values()]
  return {
    counts: {
      differing: elements.size,
      beyond: all.filter((each) => each.beyond).length,
      nonFinite: all.filter((each) => each.special).length,
      first: elements.size === 0 ? -1 : Math.min(...elements.keys()),
      finite: sums.finite,
      count: a.length,
      maxAbs,
    },
    sums,
    maxRel,
  }
}

/** Small numbers that often meet, and now and then something special. */
const numbers = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: -8, max: 8 }).map((n) => n / 4) },
  { weight: 1, arbitrary: fc.constantFrom(Number.NaN, Infinity, -Infinity, -0, 0) },
)

function feed(meter: Meter, a: Float64Array, b: Float64Array, window: number): void {
  for (let at = 0; at < a.length; at += window)
    compareWindows(meter, { a: a.subarray(at, at + window), b: b.subarray(at, at + window), close })
}

describe('comparing numbers', () => {
  it('agrees with the definition, in windows of any size', () => {
    const pairs = fc.array(fc.tuple(numbers, numbers, fc.boolean()), { maxLength: 3000 })
    fc.assert(
      fc.property(pairs, fc.integer({ min: 1, max: 400 }), fc.constantFrom(1, 2), (list, half, width) => {
        const even = width === 2 ? list.slice(0, list.length - (list.length % 2)) : list
        const a = Float64Array.from(even, ([x]) => x)
        const b = Float64Array.from(even, ([x, y, same]) => (same ? x : y))
        const wanted = plainly(a, b, width)
        const meter = createMeter(width)
        feed(meter, a, b, 2 * half)
        expect(meter).toMatchObject(wanted.counts)
        expect(meter.maxRel).toBeCloseTo(wanted.maxRel, 12)
        for (const key of ['error', 'before', 'after', 'product'] as const)
          expect(sumOf(meter[key])).toBeCloseTo(wanted.sums[key], 8)
      }),
      { numRuns: 60 },
    )
  })

  it('finds one change among many numbers', () => {
    const a = Float32Array.from({ length: 5000 }, (_, i) => i % 17)
    const b = a.slice()
    b[4321] = a[4321]! + 0.5
    const meter = createMeter()
    compareWindows(meter, { a: a.subarray(0, 3000), b: b.subarray(0, 3000) })
    compareWindows(meter, { a: a.subarray(3000), b: b.subarray(3000) })
    expect(meter).toMatchObject({ count: 5000, differing: 1, beyond: 1, first: 4321, maxAbs: 0.5, maxAbsAt: 4321 })
    expect(distanceOf(meter).rmse).toBeCloseTo(Math.sqrt(0.25 / 5000), 15)
  })

  it('takes exact differences where they are given', () => {
    const same = Float64Array.of(2 ** 60, 2 ** 60)
    const meter = createMeter()
    compareWindows(meter, { a: same, b: same, rests: Float64Array.of(0, -3) })
    expect(meter).toMatchObject({ differing: 1, first: 1, maxAbs: 3 })
    expect(distanceOf(meter).rmse).toBeCloseTo(Math.sqrt(4.5), 12)
  })

  it('counts a distance beyond f64 as a difference of finite numbers', () => {
    const meter = createMeter()
    compareWindows(meter, { a: Float64Array.of(1.5e308), b: Float64Array.of(-1.5e308) })
    expect(meter).toMatchObject({ differing: 1, beyond: 1, nonFinite: 0, maxAbs: Infinity })
  })

  it('puts meters together as if the numbers had come in one go', () => {
    const a = Float64Array.from({ length: 100 }, (_, i) => i)
    const b = a.map((x, i) => (i === 60 ? x + 2 : i === 80 ? x - 1 : x))
    const [whole, left, right] = [createMeter(), createMeter(), createMeter()]
    compareWindows(whole, { a, b })
    compareWindows(left, { a: a.subarray(0, 50), b: b.subarray(0, 50) })
    compareWindows(right, { a: a.subarray(50), b: b.subarray(50) })
    mergeMeter(left, right)
    const { first, maxAbs, maxAbsAt, maxRel, count, differing, finite } = whole
    expect(left).toMatchObject({ first, maxAbs, maxAbsAt, maxRel, count, differing, finite })
    expect(distanceOf(left)).toEqual(distanceOf(whole))
  })
})
