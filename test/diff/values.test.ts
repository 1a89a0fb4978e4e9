import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareTensors } from '../../src/diff/compare-tensors.js'
import {
  bf16,
  c64,
  c128,
  type DType,
  dtypes,
  f16,
  f32,
  f64,
  i4,
  i8,
  i32,
  i64,
  packed,
  u8,
  u64,
} from '../../src/dtypes/index.js'
import { bytesPayload, type Tensor } from '../../src/model/index.js'
import { castTensor } from '../../src/transforms/cast.js'
import { quantizeTensor } from '../../src/transforms/quantize/quantize.js'
import { columnMajor } from '../../src/transforms/reorder.js'
import { sampleTensor } from '../support/sample-model.js'
import { encoded, streamOnly, tensorOf } from '../transforms/tensors.js'

const vector = (dtype: DType, values: readonly number[], rest: Partial<Tensor> = {}): Tensor =>
  tensorOf(dtype, [values.length], encoded(dtype, values), rest)

const wide = (dtype: DType, values: readonly bigint[]): Tensor =>
  tensorOf(dtype, [values.length], new Uint8Array(BigInt64Array.from(values.map((v) => BigInt.asIntN(64, v))).buffer))

describe('equal tensors', () => {
  it.each([...dtypes.keys()].filter((id) => id !== 'packed'))('of type %s are no difference', async (id) => {
    const shape = dtypes.get(id)!.byteLength([3, 256]) === undefined ? [256] : [3, 256]
    const tensor = sampleTensor('w', id, shape)
    expect(await compareTensors(tensor, { ...tensor })).toBeUndefined()
    expect(await compareTensors(tensor, { ...tensor, encoding: tensor.dtype, dtype: packed })).toBeUndefined()
  })

  it('may lie in another order', async () => {
    const row = sampleTensor('w', 'f16', [5, 7, 3])
    expect(await compareTensors(row, columnMajor(row))).toBeUndefined()
    expect(await compareTensors(columnMajor(row), columnMajor(row))).toBeUndefined()
  })

  it('may lie in another order although their elements are no whole bytes', async () => {
    const [row, column] = [
      [1, 2, 3, 4, 5, 6],
      [1, 4, 2, 5, 3, 6],
    ] as const
    const a = tensorOf(i4, [2, 3], encoded(i4, row))
    const b = tensorOf(i4, [2, 3], encoded(i4, column), { order: 'column' })
    expect(await compareTensors(a, b)).toBeUndefined()
    expect(await compareTensors(a, { ...b, data: bytesPayload(encoded(i4, [1, 4, 2, 5, 3, 7])) })).toMatchObject({
      change: 'values',
      values: { differing: 1, firstAt: [1, 2] },
    })
  })

  it('may both be without data', async () => {
    const none = tensorOf(f32, [2], new Uint8Array(8), { data: null })
    expect(await compareTensors(none, none)).toBeUndefined()
    expect(await compareTensors(none, vector(f32, [1, 2]))).toMatchObject({ change: 'data' })
    expect(await compareTensors(none, { ...none, dtype: f16 })).toMatchObject({ change: 'type' })
  })
})

describe('a planted change', () => {
  it('is found at its place with its size', async () => {
    const planted = fc.record({
      dtype: fc.constantFrom(f64, f32, f16, bf16, i32, i8, u8),
      shape: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
      at: fc.nat(),
      by: fc.integer({ min: 1, max: 20 }),
      order: fc.constantFrom('row', 'column'),
    })
    await fc.assert(
      fc.asyncProperty(planted, async ({ dtype, shape, at, by, order }) => {
        const count = shape.reduce((a, b) => a * b, 1)
        const before = Array.from({ length: count }, (_, i) => (i * 7) % 20)
        const index = at % count
        const after = before.map((value, i) => (i === index ? value + by : value))
        const a = tensorOf(dtype, shape, encoded(dtype, before))
        const changed = tensorOf(dtype, shape, encoded(dtype, after))
        const b = order === 'row' ? changed : columnMajor(changed)
        const found = await compareTensors(a, b)
        const sum = (list: readonly number[]): number => list.reduce((x, y) => x + y, 0)
        const [energy, other] = [sum(before.map((x) => x * x)), sum(after.map((x) => x * x))]
        expect(found).toMatchObject({
          change: 'values',
          values: { count, differing: 1, nonFinite: 0, first: index, maxAbs: by },
        })
        const { firstAt, maxAbsAt, rmse, snr, cosine, maxRel } = found!.values!
        expect(firstAt!.reduce((place, coordinate, axis) => place * shape[axis]! + coordinate, 0)).toBe(index)
        expect(maxAbsAt).toEqual(firstAt)
        expect(rmse).toBeCloseTo(by / Math.sqrt(count), 10)
        expect(maxRel).toBeCloseTo(by / after[index]!, 12)
        if (energy === 0) expect([snr, cosine]).toEqual([null, null])
        else {
          expect(snr).toBeCloseTo(10 * Math.log10(energy / by ** 2), 9)
          const product = sum(before.map((x, i) => x * after[i]!))
          expect(cosine).toBeCloseTo(product / Math.sqrt(energy * other), 12)
        }
      }),
      { numRuns: 80 },
    )
  })

  it('is found in the third window, also of a stream', async () => {
    const count = 900_000
    const values = Float32Array.from({ length: count }, (_, i) => (i % 1013) / 64)
    const changed = values.slice()
    changed[777_777] = -1
    const bytes = (list: Float32Array): Uint8Array => new Uint8Array(list.buffer)
    const a = tensorOf(f32, [count], bytes(values))
    const b = tensorOf(f32, [count], bytes(changed), { data: streamOnly(bytes(changed), 999_999) })
    expect(await compareTensors(a, b)).toMatchObject({ values: { differing: 1, first: 777_777, count } })
  })

  it('is found in complex numbers, which count as one', async () => {
    const numbers = [1, 2, 3, 4, 5, 6]
    const a = tensorOf(c64, [3], encoded(f32, numbers))
    const b = tensorOf(c64, [3], encoded(f32, [1, 2, 30, 40, 5, 6]))
    expect(await compareTensors(a, b)).toMatchObject({
      values: { count: 3, differing: 1, first: 1, maxAbs: 36 },
    })
    expect(await compareTensors(a, tensorOf(c128, [3], encoded(f64, numbers)))).toMatchObject({
      change: 'type',
      values: { differing: 0 },
    })
    const real = await compareTensors(a, vector(f32, [1, 3, 5]))
    expect(real).toMatchObject({ change: 'type', reason: expect.stringContaining('complex') })
  })
})

describe('64-bit integers', () => {
  const large = 2n ** 62n

  it('are compared as integers', async () => {
    const a = wide(i64, [1n, large, -large])
    expect(await compareTensors(a, wide(i64, [1n, large, -large - 1n]))).toMatchObject({
      values: { differing: 1, first: 2, maxAbs: 1, rmse: Math.sqrt(1 / 3) },
    })
    expect(await compareTensors(wide(u64, [2n ** 64n - 1n]), wide(u64, [2n ** 64n - 2n]))).toMatchObject({
      values: { differing: 1, maxAbs: 1 },
    })
  })

  it('are compared with other types by what they stand for', async () => {
    const same = await compareTensors(wide(i64, [large, 5n]), wide(u64, [large, 5n]))
    expect(same).toMatchObject({ change: 'type', values: { differing: 0 } })
    const wrapped = await compareTensors(wide(i64, [-1n]), wide(u64, [2n ** 64n - 1n]))
    expect(wrapped).toMatchObject({ values: { differing: 1, maxAbs: 2 ** 64 } })
    const rounded = await compareTensors(wide(i64, [2n ** 53n + 1n, 7n]), vector(f64, [2 ** 53, 7]))
    expect(rounded).toMatchObject({ change: 'values', values: { differing: 1, first: 0, maxAbs: 1 } })
    const halves = await compareTensors(wide(i64, [3n, -3n, 0n]), vector(f32, [3.5, -3, Infinity]))
    expect(halves).toMatchObject({ values: { differing: 2, nonFinite: 1, first: 0 } })
  })

  it('agree with exact arithmetic', async () => {
    const any = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    await fc.assert(
      fc.asyncProperty(any, any, async (x, y) => {
        const found = await compareTensors(wide(i64, [x]), wide(i64, [y]))
        if (x === y) expect(found).toBeUndefined()
        else expect(found!.values!.maxAbs).toBe(Number(x > y ? x - y : y - x))
      }),
    )
  })
})

describe('other types', () => {
  it('with the same numbers differ in type only', async () => {
    const a = vector(f32, [1, -2, 0.5])
    expect(await compareTensors(a, castTensor(a, f16))).toMatchObject({
      change: 'type',
      a: { dtype: 'f32' },
      b: { dtype: 'f16' },
      values: { differing: 0, first: null },
    })
    expect(await compareTensors(a, castTensor(a, f16), { tolerance: 0 })).toMatchObject({ close: true })
  })

  it('are decoded, quantized ones too', async () => {
    const values = Array.from({ length: 64 * 64 }, (_, i) => Math.sin(i))
    const a = tensorOf(f32, [64, 64], encoded(f32, values))
    const found = await compareTensors(quantizeTensor(a, 'q8'), quantizeTensor(a, 'k4'))
    expect(found).toMatchObject({ change: 'values', a: { dtype: 'mcf.q8' }, b: { dtype: 'mcf.k4' } })
    expect(found!.values!.snr).toBeGreaterThan(20)
    expect(found!.values!.snr).toBeLessThan(35)
  })

  it('that nobody can decode say so', async () => {
    const a = tensorOf(packed, [4], Uint8Array.of(1, 2, 3, 4))
    const b = tensorOf(packed, [4], Uint8Array.of(1, 2, 9, 4))
    const found = await compareTensors(a, b, { tolerance: 1 })
    expect(found).toMatchObject({ change: 'bytes', firstByte: 2, reason: expect.stringContaining('packed') })
    expect(found).not.toHaveProperty('close')
    expect(await compareTensors(a, vector(u8, [1, 2, 3, 4]))).toMatchObject({
      change: 'type',
      reason: expect.any(String),
    })
  })

  it('have scales that count', async () => {
    const stored = encoded(i8, [-4, 0, 4, 10, 20, 30])
    const quant = { scheme: 'asymmetric', axis: 1, scales: [0.5, 2, 1], zeroPoints: [0, 1, 2] } as const
    const a = tensorOf(i8, [2, 3], stored, { quant })
    const real = tensorOf(f32, [2, 3], encoded(f32, [-2, -2, 2, 5, 38, 28]))
    expect(await compareTensors(a, real)).toMatchObject({ change: 'type', values: { differing: 0 } })
    expect(await compareTensors(a, { ...a, quant: { ...quant } })).toBeUndefined()
    const other = await compareTensors(a, { ...a, quant: { ...quant, scales: [0.5, 2, 3] } })
    expect(other).toMatchObject({ change: 'values', values: { differing: 2, firstAt: [0, 2], maxAbs: 56 } })
  })
})

describe('special numbers', () => {
  const nan = (bits: number): Uint8Array => new Uint8Array(Uint32Array.of(bits).buffer)

  it('zero and minus zero are the same number in other bytes', async () => {
    const found = await compareTensors(vector(f32, [1, 0]), vector(f32, [1, -0]))
    expect(found).toMatchObject({ change: 'bytes', firstByte: 7, values: { differing: 0, maxAbs: 0 } })
    expect(await compareTensors(vector(f32, [0]), vector(f32, [-0]), { tolerance: 0 })).toMatchObject({ close: true })
  })

  it('NaN equals NaN, whatever its bits', async () => {
    const [quiet, other] = [tensorOf(f32, [1], nan(0x7fc00000)), tensorOf(f32, [1], nan(0x7fc00001))]
    expect(await compareTensors(quiet, quiet)).toBeUndefined()
    expect(await compareTensors(quiet, other)).toMatchObject({ change: 'bytes', values: { differing: 0 } })
    expect(await compareTensors(quiet, castTensor(quiet, f16))).toMatchObject({
      change: 'type',
      values: { differing: 0 },
    })
  })

  it('NaN and infinities differ from numbers, and no tolerance helps', async () => {
    const a = vector(f32, [1, Number.NaN, Infinity, 4, -Infinity])
    const b = vector(f32, [1, 2, 3, Number.NaN, Infinity])
    const found = await compareTensors(a, b, { tolerance: 1e9 })
    expect(found).toMatchObject({
      change: 'values',
      values: { differing: 4, nonFinite: 4, beyond: 4, first: 1, maxAbs: Infinity, maxRel: 0, rmse: 0, cosine: 1 },
    })
    expect(found).not.toHaveProperty('close')
  })
})

it('numbers are left alone when only names are wanted', async () => {
  const found = await compareTensors(vector(f32, [1, 2]), vector(f32, [1, 3]), { measure: false })
  expect(found).toMatchObject({ change: 'bytes', firstByte: 6, reason: 'not measured' })
  expect(found).not.toHaveProperty('values')
})

it('different shapes are not compared further', async () => {
  expect(await compareTensors(vector(f32, [1, 2]), tensorOf(f32, [2, 1], encoded(f32, [1, 2])))).toEqual({
    name: 'w',
    change: 'shape',
    a: { name: 'w', dtype: 'f32', shape: [2], bytes: 8 },
    b: { name: 'w', dtype: 'f32', shape: [2, 1], bytes: 8 },
  })
})

it('a payload that ends too early is an error', async () => {
  const short = { ...streamOnly(new Uint8Array(4)), byteLength: 8 }
  const a = vector(f32, [0, 0])
  await expect(compareTensors(a, { ...a, data: short })).rejects.toMatchObject({ code: 'io/short-read' })
})
