import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countingSource, MemorySource } from '../../src/bytes/index.js'
import {
  bf16,
  bool,
  c64,
  type DType,
  dtypes,
  f8_e5m2,
  f32,
  f64,
  i4,
  i8,
  i32,
  i64,
  isReal,
  packed,
  u32,
} from '../../src/dtypes/index.js'
import { type StatsOptions, type TensorStats, tensorStats } from '../../src/inspect/stats.js'
import { bytesPayload, lazyPayload, rangePayload, type Tensor } from '../../src/model/index.js'

/** More than 4 MiB, even as f32. */
const large = 1_050_000

function tensorOf(dtype: DType, shape: readonly number[], bytes: Uint8Array): Tensor {
  return { name: 't', dtype, shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
}

function encode(dtype: DType, values: readonly number[] | Float64Array): Tensor {
  const bytes = new Uint8Array(dtype.byteLength([values.length])!)
  expect(dtype.codec!.fromF64!(Float64Array.from(values), bytes)).toBe(-1)
  return tensorOf(dtype, [values.length], bytes)
}

async function statsOf(tensor: Tensor, options?: StatsOptions): Promise<TensorStats> {
  const stats = await tensorStats(tensor, options)
  if (stats.reason !== undefined) throw new Error(stats.reason)
  return stats
}

const countsIn = (stats: TensorStats): number[] => stats.histogram.map((bin) => bin.count)

/** Pseudo-random numbers between -1 and 1, always the same. */
function noise(count: number): Float64Array {
  let state = 7
  return Float64Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state / 1073741824 - 1
  })
}

function middle(sorted: readonly number[] | Float64Array): number {
  const half = sorted.length / 2
  return (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2
}

describe('tensorStats', () => {
  it('gives all numbers of a small tensor', async () => {
    expect(await tensorStats(encode(f32, [0, 1, 2, 3]), { bins: 3 })).toEqual({
      count: 4,
      nan: 0,
      posInf: 0,
      negInf: 0,
      zero: 1,
      min: 0,
      max: 3,
      mean: 1.5,
      median: 1.5,
      medianExact: true,
      std: Math.sqrt(1.25),
      histogram: [
        { low: 0, high: 1, count: 1 },
        { low: 1, high: 2, count: 1 },
        { low: 2, high: 3, count: 2 },
      ],
    })
  })

  const types = [...dtypes.values()].filter(isReal)
  it.each(types.map((dtype) => [dtype.id, dtype] as const))(
    'agrees with plain arithmetic for any bits of %s',
    async (_, dtype) => {
      const { elements, bytes } = dtype.group
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ minLength: bytes, maxLength: bytes * 40 }), async (raw) => {
          const count = Math.floor(raw.length / bytes) * elements
          const tensor = tensorOf(dtype, [count], raw.slice(0, (count / elements) * bytes))
          const stats = await statsOf(tensor)
          const values = new Float64Array(count)
          dtype.codec!.toF64(raw, values)
          const finite = values.filter(Number.isFinite).sort()
          expect(stats.count).toBe(count)
          expect(stats.nan).toBe(values.filter(Number.isNaN).length)
          expect(stats.posInf).toBe(values.filter((x) => x === Infinity).length)
          expect(stats.negInf).toBe(values.filter((x) => x === -Infinity).length)
          expect(stats.zero).toBe(values.filter((x) => x === 0).length)
          expect(countsIn(stats).reduce((sum, each) => sum + each, 0)).toBe(finite.length)
          if (finite.length === 0) {
            expect([stats.min, stats.max, stats.mean, stats.median, stats.std]).toEqual([null, null, null, null, null])
            return
          }
          expect(stats.min).toBe(finite[0])
          expect(stats.max).toBe(finite.at(-1))
          expect(stats.medianExact).toBe(true)
          const median = middle(finite)
          if (Number.isFinite(median)) expect(stats.median === median).toBe(true)
          expect(stats.min! <= stats.mean! && stats.mean! <= stats.max!).toBe(true)
          expect(stats.std! >= 0 && stats.std! <= stats.max! - stats.min!).toBe(true)
        }),
        { numRuns: 30 },
      )
    },
  )

  it('counts what is not finite and leaves it out of the rest', async () => {
    const stats = await statsOf(encode(f32, [NaN, 1, Infinity, 3, -Infinity, NaN, Infinity]))
    expect(stats).toMatchObject({ count: 7, nan: 2, posInf: 2, negInf: 1, min: 1, max: 3, mean: 2, median: 2, std: 1 })
    expect(countsIn(stats)).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    const none = await statsOf(encode(f8_e5m2, [NaN, Infinity]))
    expect(none).toMatchObject({
      count: 2,
      nan: 1,
      posInf: 1,
      min: null,
      mean: null,
      median: null,
      std: null,
      histogram: [],
    })
  })

  it('puts -0 before 0', async () => {
    expect(await statsOf(encode(f64, [0, -0, 1]))).toMatchObject({ min: -0, max: 1, median: 0, zero: 2 })
    expect(await statsOf(encode(f32, [-0, 0]))).toMatchObject({ min: -0, max: 0, median: 0, mean: 0 })
    expect(await statsOf(encode(f32, [-1, -0, -0]))).toMatchObject({ max: -0, median: -0 })
  })

  it('survives the whole range of f64', async () => {
    const stats = await statsOf(encode(f64, [-Number.MAX_VALUE, Number.MAX_VALUE, Number.MAX_VALUE, 0]))
    expect(stats.mean).toBe(Number.MAX_VALUE / 4)
    expect(stats.median).toBe(Number.MAX_VALUE / 2)
    expect(stats.std! / Number.MAX_VALUE).toBeCloseTo(Math.sqrt(11) / 4, 12)
    expect(countsIn(stats)).toEqual([1, 0, 0, 0, 0, 1, 0, 0, 0, 2])
    const tiny = await statsOf(encode(f64, [0, 5e-324, 1e-323]), { bins: 2 })
    expect(tiny.histogram).toEqual([
      { low: 0, high: 5e-324, count: 1 },
      { low: 5e-324, high: 1e-323, count: 2 },
    ])
    expect(await statsOf(encode(f64, new Float64Array(3000).fill(Number.MAX_VALUE)))).toMatchObject({
      mean: Number.MAX_VALUE,
      median: Number.MAX_VALUE,
      std: 0,
    })
  })

  describe('histogram', () => {
    it('has one bin per value that occurs for integers that lie close together', async () => {
      const bins = (await statsOf(encode(i8, [0, 20, 5, 5]))).histogram
      expect(bins).toEqual([
        { low: 0, high: 0, count: 1 },
        { low: 5, high: 5, count: 2 },
        { low: 20, high: 20, count: 1 },
      ])
      expect((await statsOf(encode(i8, [0, 21, 5, 5]))).histogram).toHaveLength(10)
      expect((await statsOf(encode(i4, [-8, 7, 7]))).histogram).toHaveLength(2)
      expect((await statsOf(encode(i64, [2 ** 60, 2 ** 60]))).histogram).toEqual([
        { low: 2 ** 60, high: 2 ** 60, count: 2 },
      ])
      const apart = await statsOf(encode(i64, [2 ** 54, 2 ** 54 + 8]))
      expect(apart.histogram).toEqual([
        { low: 2 ** 54, high: 2 ** 54, count: 1 },
        { low: 2 ** 54 + 8, high: 2 ** 54 + 8, count: 1 },
      ])
    })

    it('always has both values of a boolean', async () => {
      expect(countsIn(await statsOf(encode(bool, [1, 1, 1])))).toEqual([0, 3])
      expect(countsIn(await statsOf(tensorOf(bool, [3], Uint8Array.of(0, 2, 255))))).toEqual([1, 2])
    })

    it('has one bin when all values are equal', async () => {
      expect((await statsOf(encode(f32, [2.5, 2.5]))).histogram).toEqual([{ low: 2.5, high: 2.5, count: 2 }])
    })

    it('has as many bins as asked for, empty ones too', async () => {
      expect(countsIn(await statsOf(encode(f32, [0, 1]), { bins: 5 }))).toEqual([1, 0, 0, 0, 1])
      const error = { code: 'usage/option' }
      for (const bins of [0, -1, 1.5, NaN, 65_537])
        await expect(tensorStats(encode(f32, [1]), { bins })).rejects.toMatchObject(error)
    })
  })

  it('says why there are no statistics', async () => {
    const reasonOf = async (tensor: Tensor) => (await tensorStats(tensor)).reason
    expect(await reasonOf(tensorOf(c64, [1], new Uint8Array(8)))).toMatch(/complex/)
    expect(await reasonOf(tensorOf(packed, [1], new Uint8Array(8)))).toMatch(/packed cannot be decoded/)
    expect(await reasonOf({ ...tensorOf(f32, [1], new Uint8Array(4)), data: null })).toMatch(/without data/)
    expect(await reasonOf(tensorOf(f32, [3], new Uint8Array(4)))).toMatch(
      /4 bytes are stored, but shape \[3\] of f32 takes 12/,
    )
    expect(await reasonOf(tensorOf(f32, [2 ** 40, 2 ** 40], new Uint8Array(4)))).toMatch(/impossible/)
  })

  it('decodes a packed tensor by its encoding, and empty ones to nothing', async () => {
    const tensor = { ...tensorOf(packed, [3], Uint8Array.of(1, 2, 3)), encoding: i8 }
    expect(await statsOf(tensor)).toMatchObject({ count: 3, mean: 2 })
    expect(await statsOf(tensorOf(f32, [0, 4], new Uint8Array(0)))).toMatchObject({
      count: 0,
      min: null,
      histogram: [],
    })
  })

  it.each([f32, f64, i32, i64])('agrees with plain arithmetic for many values', async (dtype) => {
    const values = noise(20_001).map((x) => (dtype.kind === 'float' ? Math.fround(x) : Math.round(x * 1e9)))
    values.set(values.map((x) => (dtype === f64 ? x + 1e-12 : x)))
    const sorted = values.slice().sort()
    const stats = await statsOf(encode(dtype, values))
    expect(stats).toMatchObject({ count: 20_001, min: sorted[0], max: sorted.at(-1), median: sorted[10_000] })
    expect(stats.medianExact).toBe(true)
    const [mean, bound] = [values.reduce((sum, x) => sum + x, 0) / 20_001, 1e-12 * sorted.at(-1)!]
    expect(Math.abs(stats.mean! - mean)).toBeLessThan(bound)
    const std = Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 20_001)
    expect(Math.abs(stats.std! - std)).toBeLessThan(bound)
    expect(countsIn(stats)).toEqual(
      stats.histogram.map(({ low, high }, i) => values.filter((x) => x >= low && (x < high || i === 9)).length),
    )
  })

  describe('of a tensor that is too large to keep', () => {
    const values = noise(large)
    const sorted = values.slice().sort()

    async function streamed(
      dtype: DType,
      scale: number,
      { shift = 0, ...options }: StatsOptions & { shift?: number } = {},
    ) {
      const scaled = values.map((x) => (dtype.kind === 'float' ? x * scale : Math.round(x * scale) + shift))
      const small = encode(dtype, scaled)
      const bytes = await small.data!.read!(0, small.data!.byteLength)
      const reads = { reads: 0, bytes: 0 }
      const source = countingSource(new MemorySource(bytes), reads)
      const stats = await statsOf({ ...small, data: rangePayload(source, 0, source.size) }, options)
      return { stats, passes: reads.bytes / source.size }
    }

    function histogramOf(ascending: Float64Array, { histogram }: TensorStats): number[] {
      const starts = histogram.map(({ low }) => ascending.findIndex((x) => x >= low))
      return starts.map((start, i) => (starts[i + 1] ?? ascending.length) - start)
    }

    it('agrees with plain arithmetic for f32, in two passes', async () => {
      const { stats, passes } = await streamed(f32, 1)
      const rounded = sorted.map(Math.fround)
      expect(passes).toBe(2)
      expect(stats).toMatchObject({ count: large, min: rounded[0], max: rounded.at(-1), medianExact: true })
      expect(stats.median).toBe(middle(rounded))
      expect(countsIn(stats)).toEqual(histogramOf(rounded, stats))
      const mean = rounded.reduce((sum, x) => sum + x, 0) / large
      expect(stats.mean).toBeCloseTo(mean, 12)
      expect(stats.std).toBeCloseTo(Math.sqrt(rounded.reduce((sum, x) => sum + (x - mean) ** 2, 0) / large), 12)
    })

    it('reads types with few bits only once', async () => {
      const { stats, passes } = await streamed(bf16, 1)
      expect(passes).toBe(1)
      const { stats: same, passes: more } = await streamed(f32, 1)
      expect(more).toBe(2)
      expect(Math.abs(stats.std! - same.std!)).toBeLessThan(1e-3)
      expect(stats.medianExact).toBe(true)
    })

    it('finds the median of f64 to 32 bits, and to the last bit when asked', async () => {
      const quick = await streamed(f64, 1)
      expect(quick.passes).toBe(2)
      expect(quick.stats.medianExact).toBe(false)
      expect(Math.abs(quick.stats.median! - middle(sorted))).toBeLessThan(1e-5 * Math.abs(middle(sorted)))
      const exact = await streamed(f64, 1, { exact: true })
      expect(exact.passes).toBe(4)
      expect(exact.stats).toEqual({ ...quick.stats, median: middle(sorted), medianExact: true })
    })

    it.each([
      [i32, 2 ** 31 - 1, 0],
      [u32, 2 ** 31 - 1, 2 ** 31],
    ] as const)('finds the median of 32-bit integers exactly', async (dtype, scale, shift) => {
      const { stats } = await streamed(dtype, scale, { shift })
      const whole = values.map((x) => Math.round(x * scale) + shift)
      expect(stats).toMatchObject({ median: middle(whole.sort()), medianExact: true })
    })

    it('knows that the median of small 64-bit integers is exact', async () => {
      const { stats, passes } = await streamed(i64, 1e6)
      expect(passes).toBe(2)
      expect(stats.medianExact).toBe(true)
      expect(stats.median).toBe(middle(values.map((x) => Math.round(x * 1e6)).sort()))
    })

    it('reports progress up to the end, and stops when told', async () => {
      const seen: number[] = []
      let total = 0
      await streamed(bf16, 1, {
        onProgress: (progress) => {
          expect(progress.path).toBe('t')
          seen.push(progress.done)
          total = progress.total
        },
      })
      expect(seen.every((done, i) => i === 0 || done > seen[i - 1]!)).toBe(true)
      expect(seen.at(-1)).toBe(total)
      const controller = new AbortController()
      const stop = (): void => controller.abort()
      await expect(streamed(f64, 1, { signal: controller.signal, onProgress: stop })).rejects.toMatchObject({
        code: 'io/aborted',
      })
    })

    it('does not take a payload that ends early for the whole', async () => {
      const bytes = new Uint8Array(4 * large)
      const data = lazyPayload(bytes.byteLength, async function* () {
        yield bytes.subarray(0, 4 * large - 8)
      })
      await expect(tensorStats({ ...tensorOf(f32, [large], bytes), data })).rejects.toMatchObject({
        code: 'write/layout-mismatch',
      })
    })
  })
})
