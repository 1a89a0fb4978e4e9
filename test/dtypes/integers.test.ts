import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bitset, bool, c64, c128, type DType, i8, i16, i32, i64, u8, u16, u32, u64 } from '../../src/dtypes/index.js'
import { stickyDecoder } from '../../src/dtypes/integers.js'
import { codeOf, formats, nearestF32 } from './oracle.js'

fc.configureGlobal({ seed: 5 })

const small: readonly [DType, number, boolean][] = [
  [i8, 8, true],
  [u8, 8, false],
  [i16, 16, true],
  [u16, 16, false],
  [i32, 32, true],
  [u32, 32, false],
]

describe.each(small.map(([dtype, bits, signed]) => ({ id: dtype.id, dtype, bits, signed })))('$id', (type) => {
  const { dtype, bits, signed } = type
  const codec = dtype.codec!
  const [lowest, highest] = signed ? [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1] : [0, 2 ** bits - 1]
  const value = fc.oneof(fc.integer({ min: lowest, max: highest }), fc.constantFrom(lowest, highest, 0, highest - 1))

  it('writes and reads at any alignment', () => {
    fc.assert(
      fc.property(fc.array(value), fc.nat(7), (values, shift) => {
        const bytes = new Uint8Array(shift + (values.length * bits) / 8).subarray(shift)
        expect(codec.fromF64!(Float64Array.from(values), bytes)).toBe(-1)
        const [single, double] = [new Float32Array(values.length), new Float64Array(values.length)]
        codec.toF32(bytes, single)
        codec.toF64(bytes, double)
        expect([...double]).toEqual(values)
        expect([...single]).toEqual(values.map(Math.fround))
        expect(values.map((_, i) => codec.element(bytes, i))).toEqual(values)
      }),
    )
  })

  it('refuses what it cannot hold and says which value that was', () => {
    const { NaN: nan, POSITIVE_INFINITY } = Number
    for (const bad of [lowest - 1, highest + 1, 0.5, nan, POSITIVE_INFINITY, -0.25]) {
      expect(codec.fromF64!(Float64Array.of(0, 1, bad, bad), new Uint8Array(16))).toBe(2)
    }
    expect(codec.fromF64!(Float64Array.of(-0), new Uint8Array(4))).toBe(-1)
  })
})

const edges64 = [0n, 1n, (1n << 53n) + 1n, (1n << 62n) + (1n << 38n), (1n << 62n) + (1n << 38n) + 1n, (1n << 63n) - 1n]

describe.each([
  { dtype: i64, lowest: -(1n << 63n), highest: (1n << 63n) - 1n, array: BigInt64Array },
  { dtype: u64, lowest: 0n, highest: (1n << 64n) - 1n, array: BigUint64Array },
])('$dtype.id', ({ dtype, lowest, highest, array }) => {
  const codec = dtype.codec!
  const within = (value: bigint): bigint => (value < lowest ? -value : value)
  const nearTie = fc
    .tuple(
      fc.bigInt({ min: 1n << 23n, max: (1n << 24n) - 1n }),
      fc.integer({ min: 1, max: 38 }),
      fc.bigInt({ min: -2n, max: 2n }),
    )
    .map(([mantissa, shift, by]) => ((2n * mantissa + 1n) << BigInt(shift)) / 2n + by)
  const value = fc.oneof(
    fc.bigInt({ min: lowest, max: highest }),
    fc.constantFrom(lowest, highest, ...edges64),
    nearTie,
    nearTie.map((tie) => within(-tie)),
  )
  const values = fc.array(value, { minLength: 1, maxLength: 30 })
  const bytesOf = (list: readonly bigint[]): Uint8Array => new Uint8Array(array.from(list).buffer as ArrayBuffer)

  it('rounds once to f32 and once to f64', () => {
    fc.assert(
      fc.property(values, (list) => {
        const [single, double] = [new Float32Array(list.length), new Float64Array(list.length)]
        codec.toF32(bytesOf(list), single)
        codec.toF64(bytesOf(list), double)
        expect([...single]).toEqual(list.map(nearestF32))
        expect([...double]).toEqual(list.map(Number))
        expect(list.map((_, i) => codec.element(bytesOf(list), i))).toEqual(list)
      }),
    )
  })

  it('lets a later rounding to bf16 be the only one', () => {
    const format = formats.find((each) => each.id === 'bf16')!
    const tie = (257n << 55n) / 2n
    const list = [tie, tie + 1n, tie - 1n, highest, lowest]
    const sticky = new Float64Array(list.length)
    stickyDecoder(dtype)!(bytesOf(list), sticky)
    expect(sticky.map((each) => codeOf(each, format) as number)[1]).toBe(codeOf(257 * 2 ** 54 * (1 + 2 ** -40), format))
    expect(sticky[0]! < sticky[1]! && sticky[2]! < sticky[0]!).toBe(true)
  })

  it('takes whole f64 values in its range, exactly', () => {
    fc.assert(
      fc.property(values, (list) => {
        const doubles = list.map(Number).filter((each) => BigInt(each) <= highest)
        const bytes = new Uint8Array(doubles.length * 8 + 3).subarray(3)
        expect(codec.fromF64!(Float64Array.from(doubles), bytes)).toBe(-1)
        expect(doubles.map((_, i) => codec.element(bytes, i))).toEqual(doubles.map((each) => BigInt(each)))
      }),
    )
    for (const bad of [Number(highest + 1n), Number(lowest) - 2048, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(codec.fromF64!(Float64Array.of(1, bad), new Uint8Array(16))).toBe(1)
    }
  })
})

describe('bool', () => {
  it('is true for everything but zero, and writes 0 and 1', () => {
    const single = new Float32Array(4)
    const double = new Float64Array(4)
    bool.codec!.toF32(Uint8Array.of(0, 1, 2, 255), single)
    bool.codec!.toF64(Uint8Array.of(0, 1, 2, 255), double)
    expect([...single]).toEqual([0, 1, 1, 1])
    expect([...double]).toEqual([0, 1, 1, 1])
    expect([0, 1, 2].map((i) => bool.codec!.element(Uint8Array.of(0, 1, 7), i))).toEqual([false, true, true])
    const target = new Uint8Array(3)
    expect(bool.codec!.fromF64!(Float64Array.of(1, 0, 1), target)).toBe(-1)
    expect([...target]).toEqual([1, 0, 1])
    for (const bad of [2, -1, 0.5, Number.NaN]) expect(bool.codec!.fromF64!(Float64Array.of(0, bad), target)).toBe(1)
  })
})

describe('bitset', () => {
  it('is one byte of flags per element', () => {
    expect(bitset.byteLength([4])).toBe(4)
    expect([0, 1, 2, 3].map((i) => bitset.codec!.element(Uint8Array.of(1, 3, 255, 0), i))).toEqual([1, 3, 255, 0])
  })
})

describe('complex', () => {
  it('shows both parts and decodes to nothing real', () => {
    const pairs = Float32Array.of(1.5, -2, 0.25, Number.POSITIVE_INFINITY)
    const bytes = new Uint8Array(17)
    bytes.set(new Uint8Array(pairs.buffer), 1)
    expect(c64.codec!.element(bytes.subarray(1), 1)).toEqual({ re: 0.25, im: Number.POSITIVE_INFINITY })
    const wide = new Uint8Array(Float64Array.of(Math.PI, Math.E).buffer)
    expect(c128.codec!.element(wide, 0)).toEqual({ re: Math.PI, im: Math.E })
    expect([c64.byteLength([3]), c128.byteLength([3])]).toEqual([24, 48])
    expect(() => c64.codec!.toF32(bytes, new Float32Array(1))).toThrow(/complex/)
  })
})
