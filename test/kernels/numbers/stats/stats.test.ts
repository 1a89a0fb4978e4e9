import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addDetail,
  binOf,
  countDigit,
  countSorted,
  createCounts,
  createDetail,
  createSummary,
  type DigitOrder,
  deviationOf,
  deviationOfSorted,
  digitRange,
  equalBins,
  finiteCount,
  highestOf,
  type KeyKind,
  lowerOrder,
  lowestOf,
  maxOf,
  meanOf,
  meanOfSorted,
  medianOfSorted,
  middleRanks,
  minOf,
  narrow,
  numberOf,
  releaseCounts,
  settleTops,
  sortValues,
  summarize,
  topOrder,
  topsSuffice,
  unitBins,
  walkDigits,
} from '../../../../src/kernels/numbers/stats/index.js'
import { exactDeviation, exactMean } from './exact.js'

type Values = Float32Array | Float64Array

/** Values in windows of uneven sizes, so that blocks and pairs end everywhere. */
function* windowsOf<T extends Values>(values: T): Generator<T> {
  for (let at = 0, size = 1; at < values.length; at += size, size = (size * 7 + 3) % 2500)
    yield values.subarray(at, at + size) as T
}

function summaryOf(kind: KeyKind, values: Values) {
  const summary = createSummary(kind)
  for (const window of windowsOf(values)) summarize(summary, window)
  return summary
}

const byValue = (a: number, b: number): number => a - b || Number(Object.is(b, -0)) - Number(Object.is(a, -0))

const doubles = fc.array(
  fc.oneof(
    fc.double(),
    fc.double({ min: -10, max: 10, noNaN: true }),
    fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 5e-324),
  ),
  { maxLength: 400 },
)

describe('summary', () => {
  const check = (kind: KeyKind, values: Values): void => {
    const summary = summaryOf(kind, values)
    const finite = Array.from(values).filter(Number.isFinite).sort(byValue)
    const countOf = (test: (x: number) => boolean): number => values.filter(test).length
    expect(summary.count).toBe(values.length)
    expect(summary.nan).toBe(countOf(Number.isNaN))
    expect(summary.posInf).toBe(countOf((x) => x === Infinity))
    expect(summary.negInf).toBe(countOf((x) => x === -Infinity))
    expect(summary.zero).toBe(countOf((x) => x === 0))
    expect(summary.negZero).toBe(countOf((x) => Object.is(x, -0)))
    expect(finiteCount(summary)).toBe(finite.length)
    if (finite.length === 0) return
    expect(minOf(summary)).toBe(finite[0])
    expect(maxOf(summary)).toBe(finite.at(-1))
    const size = exactMean(finite.map(Math.abs))
    expect(Math.abs(meanOf(summary) - exactMean(finite))).toBeLessThanOrEqual(1e-13 * size)
  }

  it('agrees with plain counting for f32', () => {
    fc.assert(fc.property(doubles, (values) => check('f32', Float32Array.from(values))))
  })

  it('agrees with plain counting for f64, also where the sum overflows', () => {
    fc.assert(fc.property(doubles, (values) => check('f64', Float64Array.from(values))))
    check('f64', new Float64Array(3000).fill(Number.MAX_VALUE))
    check('f64', Float64Array.of(Number.MAX_VALUE, Number.MAX_VALUE, -Number.MAX_VALUE))
    check('f64', Float64Array.of(Number.MAX_VALUE, 1, -Number.MAX_VALUE, 2 ** 900))
  })

  it('agrees with plain counting for 32-bit integers', () => {
    fc.assert(fc.property(fc.array(fc.integer()), (values) => check('i32', Float64Array.from(values))))
    fc.assert(fc.property(fc.array(fc.nat(2 ** 32 - 1)), (values) => check('u32', Float64Array.from(values))))
  })

  it('keeps the sum right over many windows', () => {
    const window = Float32Array.from({ length: 65_536 }, (_, i) => 0.1 + (i % 1000) / 3000)
    const summary = createSummary('f32')
    for (let i = 0; i < 200; i++) summarize(summary, window)
    const mean = exactMean(Array.from(window))
    expect(Math.abs(meanOf(summary) - mean) / mean).toBeLessThan(1e-15)
  })

  it('moves the top digits on before a 32-bit counter can overflow', () => {
    const summary = summaryOf('f32', Float32Array.of(1, 1, 2))
    summary.recentCount = 2 ** 32 - 2
    summarize(summary, Float32Array.of(1, 1, 1))
    expect(summary.recentCount).toBe(3)
    expect(summary.recent!.counts[0x3f80]).toBe(3)
    expect(settleTops(summary).counts[0x3f80]).toBe(5)
    expect(settleTops(summary).counts[0x4000]).toBe(1)
  })

  it('knows when the top digits say it all', () => {
    expect(topsSuffice(summaryOf('f32', Float32Array.of(1, -2.5, 127, NaN, Infinity)))).toBe(true)
    expect(topsSuffice(summaryOf('f32', Float32Array.of(1, -2.5, 257)))).toBe(false)
    expect(topsSuffice(summaryOf('f64', Float64Array.of(1, 31)))).toBe(true)
    expect(topsSuffice(summaryOf('f64', Float64Array.of(1, 0.1)))).toBe(false)
    expect(topsSuffice(summaryOf('i32', Float64Array.of(65_536, 0)))).toBe(true)
    expect(topsSuffice(summaryOf('i32', Float64Array.of(65_537, 0)))).toBe(false)
  })
})

/** All digits of an order, one by one. */
function digitsIn(order: DigitOrder): number[] {
  const counts = { counts: new Float64Array(digitRange).fill(1), rows: new Float64Array(256).fill(256) }
  const digits: number[] = []
  walkDigits(counts, order, { digit: (digit) => digits.push(digit) < 0 })
  return digits
}

describe('keys', () => {
  const kinds: readonly KeyKind[] = ['f32', 'f64', 'i32', 'u32']

  it.each(kinds)('walks over the top digits of %s in the order of the numbers', (kind) => {
    let last = -Infinity
    const misplaced = digitsIn(topOrder(kind)).filter((top) => {
      const [low, high] = [lowestOf(kind, top), highestOf(kind, top)]
      const follows = low <= high && (low > last || (low === 0 && last === 0))
      last = high
      return !follows
    })
    expect([...misplaced]).toEqual([])
    expect(Number.isFinite(last)).toBe(true)
  })

  it.each(kinds)('walks over the second digits of %s in the order of the numbers', (kind) => {
    for (const top of [0, 1, 0x3f80, 0x8000, 0xbf80]) {
      const values = digitsIn(lowerOrder(kind, top)).map((digit) => numberOf(kind, [top, digit]))
      expect(values.length).toBe(digitRange)
      expect(values.every((value, i) => i === 0 || value > values[i - 1]!)).toBe(true)
    }
  })
})

describe('counts', () => {
  const digits = fc.array(fc.oneof(fc.nat(digitRange - 1), fc.nat(300)), { maxLength: 200 })
  const bound = fc.nat(digitRange - 1)

  it('are walked over in any order, without the digits that do not occur', () => {
    fc.assert(
      fc.property(digits, bound, bound, (list, first, last) => {
        const counts = createCounts()
        for (const digit of list) countDigit(counts, digit, 2)
        const seen: [number, number][] = []
        walkDigits(counts, [[first, last]], { digit: (digit, count) => seen.push([digit, count]) === 50 })
        const [low, high] = [Math.min(first, last), Math.max(first, last)]
        const wanted = [...new Set(list)].filter((digit) => digit >= low && digit <= high).sort((a, b) => a - b)
        if (first > last) wanted.reverse()
        expect(seen).toEqual(
          wanted.slice(0, 50).map((digit) => [digit, 2 * list.filter((each) => each === digit).length]),
        )
        releaseCounts(counts)
      }),
    )
  })

  it('are skipped by whole rows when they may be', () => {
    fc.assert(
      fc.property(digits, bound, bound, (list, first, last) => {
        const counts = createCounts()
        for (const digit of list) countDigit(counts, digit)
        const [low, high] = [Math.min(first, last), Math.max(first, last)]
        let [inRows, total] = [0, 0]
        walkDigits(counts, [[first, last]], {
          row(from, to, count) {
            expect([Math.min(from, to) % 256, Math.max(from, to) % 256]).toEqual([0, 255])
            inRows += count
            return true
          },
          digit(_, count) {
            total += count
            return false
          },
        })
        expect(inRows + total).toBe(list.filter((digit) => digit >= low && digit <= high).length)
        releaseCounts(counts)
      }),
    )
  })

  it('are all zero when they are used again', () => {
    const counts = createCounts()
    for (const digit of [0, 255, 256, 0xffff]) countDigit(counts, digit, 7)
    releaseCounts(counts)
    const again = Array.from({ length: 6 }, createCounts)
    expect(again.every(({ counts, rows }) => !counts.some((count) => count !== 0) && !rows.some(Boolean))).toBe(true)
  })
})

describe('bins', () => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true })

  it('are ascending, start at the minimum and end at the maximum, for any range', () => {
    fc.assert(
      fc.property(finite, finite, fc.integer({ min: 1, max: 300 }), (a, b, count) => {
        const [min, max] = a < b ? [a, b] : [b, a]
        const { lows, highs } = equalBins(min, max, count)
        expect(lows.length).toBe(min === max ? 1 : count)
        expect(lows[0] === min && highs.at(-1) === max).toBe(true)
        expect(lows.every((low, i) => i === 0 || (low >= lows[i - 1]! && low === highs[i - 1]))).toBe(true)
        expect(lows.at(-1)! <= max).toBe(true)
      }),
    )
  })

  it('hold what lies between their ends', () => {
    fc.assert(
      fc.property(finite, finite, finite, fc.integer({ min: 1, max: 300 }), (a, b, c, count) => {
        const [min, x, max] = [a, b, c].sort(byValue) as [number, number, number]
        const bins = equalBins(min, max, count)
        const strays = [min, x, max, ...bins.lows].filter((value) => {
          const bin = binOf(bins, value)
          return !(bins.lows[bin]! <= value && (bin === bins.lows.length - 1 || value < bins.highs[bin]!))
        })
        expect(strays).toEqual([])
      }),
    )
  })

  it('have edges at min + i times the step', () => {
    expect([...equalBins(-1, 1, 10).lows]).toEqual(Array.from({ length: 10 }, (_, i) => -1 + i * 0.2))
    expect([...equalBins(-Number.MAX_VALUE, Number.MAX_VALUE, 2).lows]).toEqual([-Number.MAX_VALUE, 0])
    expect([...equalBins(0, 35e-324, 7).lows]).toEqual([0, 1, 2, 3, 4, 5, 6].map((i) => i * 5e-324))
  })

  it('can be one per whole number', () => {
    const bins = unitBins(-3, 4)
    expect(Array.from({ length: 8 }, (_, i) => binOf(bins, i - 3))).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    expect(bins.lows).toEqual(bins.highs)
  })
})

describe('detail', () => {
  const check = (kind: KeyKind, values: Values, count = 10): void => {
    const summary = summaryOf(kind, values)
    const finite = Array.from(values).filter(Number.isFinite).sort(byValue)
    if (finite.length === 0) return
    const bins = equalBins(minOf(summary), maxOf(summary), count)
    const ranks = middleRanks(summary)
    const detail = createDetail(summary, meanOf(summary), bins, ranks)
    if (!topsSuffice(summary)) for (const window of windowsOf(values)) addDetail(detail, window)

    const counts = new Float64Array(bins.counts.length)
    for (const x of finite) counts[bins.lows.findLastIndex((low) => low <= x)]!++
    expect(bins.counts).toEqual(counts)

    const deviation = exactDeviation(finite)
    expect(Math.abs(deviationOf(detail, finite.length) - deviation)).toBeLessThanOrEqual(1e-12 * deviation + 5e-324)

    const places = [Math.floor((finite.length - 1) / 2), Math.floor(finite.length / 2)]
    for (const [i, counted] of [detail.lowerDigits, detail.upperDigits].entries()) {
      const rank = ranks[i]!.digits.length > 1 ? ranks[i]! : narrow(kind, ranks[i]!, counted)
      const [low, high] = [numberOf(kind, rank.digits), numberOf(kind, rank.digits, 0xffff)].sort(byValue) as [
        number,
        number,
      ]
      const value = finite[places[i]!]!
      expect(low <= value && value <= high).toBe(true)
      if (kind !== 'f64') expect(numberOf(kind, rank.digits)).toBe(value)
    }
  }

  it('agrees with plain counting and sorting', () => {
    const bins = fc.integer({ min: 1, max: 40 })
    const assert = (
      kind: KeyKind,
      type: typeof Float32Array | typeof Float64Array,
      list: fc.Arbitrary<number[]>,
    ): void =>
      fc.assert(
        fc.property(list, bins, (values, count) => check(kind, type.from(values), count)),
        { numRuns: 50 },
      )
    assert('f32', Float32Array, doubles)
    assert('f64', Float64Array, doubles)
    assert('i32', Float64Array, fc.array(fc.integer()))
    assert('u32', Float64Array, fc.array(fc.nat(2 ** 32 - 1)))
  })

  it('agrees for values that share their top digit, zeros among others, and blocks with NaN', () => {
    check(
      'f32',
      Float32Array.from({ length: 5000 }, (_, i) => 1 + ((i * 7919) % 5000) * 1e-6),
    )
    check(
      'f32',
      Float32Array.from({ length: 5000 }, (_, i) => (i % 3 === 0 ? Math.sin(i) : 0)),
    )
    check(
      'f32',
      Float32Array.from({ length: 5000 }, (_, i) => (i % 700 === 0 ? NaN : Math.sin(i))),
    )
    check(
      'f64',
      Float64Array.from({ length: 5000 }, (_, i) => (i % 700 === 0 ? -Infinity : Math.sin(i))),
    )
    check(
      'f64',
      Float64Array.from({ length: 50 }, (_, i) => (i - 25) * 7e306),
    )
    check(
      'f64',
      Float64Array.from({ length: 50 }, (_, i) => (i - 25) * 5e-324),
    )
  })

  it('gives the spread of numbers whose squares overflow or vanish', () => {
    for (const unit of [1e300, 1e-310]) {
      const values = Float64Array.of(-unit, unit, -unit, unit)
      const summary = summaryOf('f64', values)
      const detail = createDetail(summary, meanOf(summary), equalBins(-unit, unit, 3), middleRanks(summary))
      addDetail(detail, values)
      expect(deviationOf(detail, 4) / unit).toBeCloseTo(1, 9)
    }
  })

  it('takes the median of a sparse tensor from the count of zeros', () => {
    const summary = summaryOf('f32', Float32Array.of(0, 0.1, 0, -0.3, 0))
    expect(middleRanks(summary).map((rank) => rank.digits)).toEqual([
      [0, 0],
      [0, 0],
    ])
    const withTiny = summaryOf('f32', Float32Array.of(0, 0.1, 1e-45, -0.3, 0))
    expect(middleRanks(withTiny).map((rank) => rank.digits)).toEqual([[0], [0]])
  })

  it('refuses a rank that the counts do not reach', () => {
    expect(() => narrow('u32', { digits: [1], place: 0 }, createCounts())).toThrow(RangeError)
  })
})

describe('few values', () => {
  const check = (values: Values): void => {
    const few = sortValues(values)
    const finite = Array.from(values).filter(Number.isFinite).sort(byValue)
    expect(Array.from(few.finite)).toEqual(finite)
    expect(few.nan).toBe(values.filter(Number.isNaN).length)
    expect(few.posInf).toBe(values.filter((x) => x === Infinity).length)
    expect(few.negInf).toBe(values.filter((x) => x === -Infinity).length)
    expect(few.zero).toBe(values.filter((x) => x === 0).length)
    if (finite.length === 0) return
    const mean = meanOfSorted(few.finite)
    const [size, deviation] = [exactMean(finite.map(Math.abs)), exactDeviation(finite)]
    expect(Math.abs(mean - exactMean(finite))).toBeLessThanOrEqual(1e-13 * size)
    const error = Math.abs(deviationOfSorted(few.finite, mean) - deviation)
    expect(error).toBeLessThanOrEqual(1e-12 * deviation + 5e-324)
    const bins = equalBins(finite[0]!, finite.at(-1)!, 7)
    countSorted(bins, few.finite)
    const counts = new Float64Array(bins.counts.length)
    for (const x of finite) counts[bins.lows.findLastIndex((low) => low <= x)]!++
    expect(bins.counts).toEqual(counts)
  }

  it('agree with exact arithmetic', () => {
    fc.assert(fc.property(doubles, (values) => check(Float32Array.from(values))))
    fc.assert(fc.property(doubles, (values) => check(Float64Array.from(values))))
    check(new Float64Array(9).fill(Number.MAX_VALUE))
  })

  it('have the middle value, or the middle of two, as median', () => {
    expect(medianOfSorted(Float64Array.of(1, 2, 10))).toBe(2)
    expect(medianOfSorted(Float64Array.of(1, 2, 4, 10))).toBe(3)
    expect(medianOfSorted(Float64Array.of(-0))).toBe(-0)
    expect(medianOfSorted(Float64Array.of(Number.MAX_VALUE, Number.MAX_VALUE))).toBe(Number.MAX_VALUE)
    expect(medianOfSorted(Float64Array.of(Number.MAX_VALUE / 2, Number.MAX_VALUE))).toBe((Number.MAX_VALUE / 4) * 3)
  })
})
