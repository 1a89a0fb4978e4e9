// The compiled statistics kernels against their plain twins, bit for bit.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { releaseWindow, takeWindow } from '../../../../src/bytes/index.js'
import { withoutKernels } from '../../../../src/kernels/load.js'
import { numbersModule } from '../../../../src/kernels/numbers/module.js'
import {
  addDetail,
  createDetail,
  createSummary,
  type Detail,
  type DigitCounts,
  equalBins,
  finiteCount,
  maxOf,
  meanOf,
  middleRanks,
  minOf,
  releaseCounters,
  type Summary,
  settleTops,
  summarize,
  walkDigits,
} from '../../../../src/kernels/numbers/stats/index.js'
import { noise } from '../../../support/numbers.js'

fc.configureGlobal({ seed: 5 })

const special = [NaN, Infinity, -Infinity, 0, -0, 1e-45, -1e-45, 3.4e38, -3.4e38, 2 ** -126, 0x7f]

/** Values of one kind of size, with others among them: none, few, or so many that every block has some. */
const valuesOf = fc
  .record({
    seed: fc.nat(),
    count: fc.integer({ min: 2048, max: 9000 }),
    scale: fc.constantFrom(1, 0.02, 1e-30, 1e30, 1e-42),
    shift: fc.constantFrom(0, 0, 1, 1000),
    others: fc.array(fc.constantFrom(...special), { maxLength: 4 }),
    spacing: fc.constantFrom(5, 700, 3000),
  })
  .map(({ seed, count, scale, shift, others, spacing }) => {
    const values = noise(seed, count).map((x) => x * scale + shift)
    for (let i = 3; others.length > 0 && i < count; i += spacing) values[i] = others[i % others.length]!
    return values
  })

function summaryOf(windows: readonly Float32Array[]): Summary {
  const summary = createSummary('f32')
  for (const window of windows) summarize(summary, window)
  return summary
}

function detailOf(summary: Summary, windows: readonly Float32Array[]): Detail {
  const bins = equalBins(minOf(summary), maxOf(summary), 10)
  const detail = createDetail(summary, meanOf(summary), bins, middleRanks(summary))
  for (const window of windows) addDetail(detail, window)
  return detail
}

/** All digits with their counts, in a list. */
function listOf(counts: DigitCounts): number[] {
  const list: number[] = []
  walkDigits(counts, [[0, 0xffff]], { digit: (digit, count) => list.push(digit, count) < 0 })
  return list
}

function contentOf(summary: Summary) {
  const { recent: _, ...rest } = summary
  return { ...rest, tops: listOf(settleTops(summary)), min: minOf(summary), max: maxOf(summary), recentCount: 0 }
}

function detailContentOf({ lowerDigits, upperDigits, marks, ...rest }: Detail) {
  const marked = Array.from(marks, (mark, top) => [top, mark]).filter(([, mark]) => mark !== 0)
  return { ...rest, marked, lower: listOf(lowerDigits), upper: listOf(upperDigits) }
}

function expectTwins(windows: readonly Float32Array[]): void {
  const compiled = summaryOf(windows)
  const plain = withoutKernels(() => summaryOf(windows))
  expect(contentOf(compiled)).toStrictEqual(contentOf(plain))
  if (finiteCount(plain) > 0) {
    const [detail, twin] = [detailOf(compiled, windows), withoutKernels(() => detailOf(plain, windows))]
    expect(detailContentOf(detail)).toStrictEqual(detailContentOf(twin))
    releaseCounters(compiled, detail)
    releaseCounters(plain, twin)
  }
}

describe('compiled statistics', () => {
  it('are there', () => {
    expect(numbersModule()).toBeDefined()
    expect(withoutKernels(numbersModule)).toBeUndefined()
    expect(numbersModule()).toBeDefined()
  })

  it('give the same as the plain ones, with NaN, infinities, zeros and subnormals', () => {
    fc.assert(
      fc.property(valuesOf, fc.integer({ min: 1, max: 9000 }), (values, cut) =>
        expectTwins([values.subarray(0, cut), values.subarray(cut)]),
      ),
      { numRuns: 60 },
    )
  })

  it('give the same for values that lie in a window, at any place', () => {
    const window = takeWindow(1 << 20)
    for (const offset of [0, 4, 12, 4100]) {
      const values = new Float32Array(window.buffer, window.byteOffset + offset, 200_001)
      values.set(noise(offset, values.length))
      values.fill(0.25, 1000, 4000)
      values[150_000] = Infinity
      values.fill(-0, 170_000, 170_500)
      expectTwins([values])
    }
    releaseWindow(window)
  })

  it('give the same when every value is marked, and for more values than a call takes', () => {
    expectTwins([noise(5, 300_000).map((x) => 1 + x * 2e-3)])
    expectTwins([new Float32Array(140_000).fill(-7.3), noise(5, 140_000)])
  })

  it('count for several tensors by turns', () => {
    const [first, second] = [noise(1, 20_000), noise(2, 20_000).map((x) => x * x)]
    const [a, b] = [createSummary('f32'), createSummary('f32')]
    for (let at = 0; at < 20_000; at += 5000) {
      summarize(a, first.subarray(at, at + 5000))
      summarize(b, second.subarray(at, at + 5000))
    }
    const windowsOf = (values: Float32Array) => [0, 1, 2, 3].map((i) => values.subarray(i * 5000, (i + 1) * 5000))
    const alone = (values: Float32Array): Summary => withoutKernels(() => summaryOf(windowsOf(values)))
    expect(contentOf(a)).toStrictEqual(contentOf(alone(first)))
    expect(contentOf(b)).toStrictEqual(contentOf(alone(second)))

    const [detailA, detailB] = [detailOf(a, []), detailOf(b, [])]
    for (let at = 0; at < 20_000; at += 5000) {
      addDetail(detailA, first.subarray(at, at + 5000))
      addDetail(detailB, second.subarray(at, at + 5000))
    }
    const twinOf = (values: Float32Array): Detail => withoutKernels(() => detailOf(alone(values), windowsOf(values)))
    expect(detailContentOf(detailA)).toStrictEqual(detailContentOf(twinOf(first)))
    expect(detailContentOf(detailB)).toStrictEqual(detailContentOf(twinOf(second)))
  })
})
