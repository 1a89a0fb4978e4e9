import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../src/bytes/index.js'
import * as types from '../../src/dtypes/index.js'
import { type DType, dtypeById, dtypes, isReal } from '../../src/dtypes/index.js'
import { rangePayload, type Tensor } from '../../src/model/index.js'
import { castLoss, castTensor } from '../../src/transforms/cast.js'
import { codeOf, formats } from '../dtypes/oracle.js'
import { bytesOf, encoded, streamOnly, tensorOf } from './tensors.js'

const {
  bf16,
  c64,
  c128,
  f8_e4m3,
  f8_e5m2,
  f8_e8m0,
  f16,
  f32,
  f64,
  i1,
  i2,
  i4,
  i8,
  i16,
  i32,
  i64,
  t1,
  t2,
  u1,
  u8,
  u16,
  u32,
  u64,
} = types
fc.configureGlobal({ seed: 5 })

const real = [...dtypes.values()].filter((dtype) => isReal(dtype) && dtype.kind !== 'block')

function valuesOf(dtype: DType, bytes: Uint8Array, count: number): number[] {
  const values = new Float64Array(count)
  dtype.codec!.toF64(bytes, values)
  return [...values]
}

const castBytes = (tensor: Tensor, to: DType): Promise<Uint8Array> => bytesOf(castTensor(tensor, to).data!)

/** Every value of a type, or for the long ones a choice that has the ends in it. */
function samples(dtype: DType): Uint8Array {
  const { elements, bytes } = dtype.group
  const codes = 2 ** ((bytes * 8) / elements)
  if (codes <= 256) return Uint8Array.from({ length: 768 }, (_, i) => (i * 7 + Math.floor(i / 256)) % 256)
  if (codes <= 65536) return new Uint8Array(Uint16Array.from({ length: 65536 }, (_, i) => i).buffer)
  const patterns = Array.from({ length: 64 }, (_, i) => (1n << BigInt(i)) - 1n).flatMap((bits) => [
    bits,
    ~bits & 0xffffffffffffffffn,
  ])
  const wide = new Uint8Array(BigUint64Array.from(patterns).buffer)
  return wide
}

/** Samples that writers of the type make: readers take others too, but they stand for the same values. Of the long floats, many NaN. */
function wellFormed(dtype: DType): Uint8Array {
  if (dtype === types.bool) return samples(dtype).map((byte) => byte % 2)
  if (dtype === t2) return samples(dtype).map((byte) => byte & ~(byte & 0xaa & ~((byte & 0x55) << 1)))
  if (dtype === f32 || dtype === c64) {
    const random = fc.sample(fc.integer({ min: 0, max: 0xffffffff }), { numRuns: 1000, seed: 5 })
    return new Uint8Array(Uint32Array.from(random, (bits, i) => (i % 2 ? bits : bits | 0x7f800000)).buffer)
  }
  return samples(dtype)
}

const reads = (dtype: DType, bytes: Uint8Array): number =>
  Math.floor(bytes.length / dtype.group.bytes) * dtype.group.elements

describe('castLoss', () => {
  it('says none exactly where every value comes back', async () => {
    for (const from of real) {
      const bytes = samples(from)
      const count = reads(from, bytes)
      const tensor = tensorOf(from, [count], bytes)
      for (const to of real) {
        const payload = castTensor(tensor, to).data!
        const there = await payload.read!(0, payload.byteLength).catch(() => undefined)
        const isSame = there !== undefined && sameValues(from, bytes, to, there, count)
        expect(`${from.id} ${to.id} ${castLoss(from, to)}`).toBe(`${from.id} ${to.id} ${isSame ? 'none' : 'precision'}`)
      }
    }
  })

  it('knows some by heart', () => {
    for (const [from, to] of [
      [f16, f32],
      [bf16, f32],
      [f8_e5m2, f16],
      [f8_e4m3, bf16],
      [i8, bf16],
      [u8, f16],
      [i32, f64],
      [u32, i64],
    ]) {
      expect(castLoss(from!, to!)).toBe('none')
    }
    for (const [from, to] of [
      [f32, f16],
      [f16, bf16],
      [bf16, f16],
      [i32, f32],
      [i64, f64],
      [f16, f8_e5m2],
      [i8, u8],
      [i2, t2],
      [i1, t1],
    ]) {
      expect(castLoss(from!, to!)).toBe('precision')
    }
    expect([castLoss(c64, c128), castLoss(c128, c64), castLoss(c64, f64)]).toEqual(['none', 'precision', 'precision'])
    expect([castLoss(f32, types.packed), castLoss(types.packed, types.packed)]).toEqual(['precision', 'none'])
  })
})

/** Element by element, exactly: `==` compares a bigint with a number without rounding, and a boolean with 0 and 1. */
function sameValues(from: DType, a: Uint8Array, to: DType, b: Uint8Array, count: number): boolean {
  for (let i = 0; i < count; i++) {
    const [here, there] = [from.codec!.element(a, i), to.codec!.element(b, i)]
    // biome-ignore lint/suspicious/noDoubleEquals: different types are the point
    if (from.kind === 'float' && to.kind === 'float' ? !Object.is(here, there) : here != there) return false
  }
  return true
}

describe('castTensor', () => {
  it('widens every short float to f32 bit by bit', async () => {
    for (const from of [f16, bf16, f8_e4m3, f8_e5m2, f8_e8m0]) {
      const bytes = samples(from)
      const count = reads(from, bytes)
      const wanted = new Float32Array(count)
      const { toF32, toF32Bits = toF32 } = from.codec!
      toF32Bits(bytes, wanted)
      const got = await castTensor(tensorOf(from, [count], bytes), f32).data!.read!(0, count * 4)
      expect(Buffer.compare(got, new Uint8Array(wanted.buffer))).toBe(0)
    }
  })

  it('keeps name, shape and order', () => {
    const wide = castTensor(tensorOf(f16, [256, 256], samples(f16)), f32)
    expect(wide).toMatchObject({ name: 'w', dtype: f32, shape: [256, 256], order: 'row' })
  })

  const lossless = [...real, c64, c128].flatMap((from) =>
    [...real, c64, c128]
      .filter((to) => to !== from && castLoss(from, to) === 'none')
      .map((to) => ({ from, to, id: `${from.id} from ${to.id}` })),
  )
  it.each(lossless)('brings back every code of $id, NaN payloads included', async ({ from, to }) => {
    const bytes = wellFormed(from)
    const count = reads(from, bytes)
    const wide = castTensor(tensorOf(from, [count], bytes), to)
    const back = await castTensor(wide, from).data!.read!(0, bytes.length)
    expect(bytes.findIndex((byte, i) => byte !== back[i])).toBe(-1)
    expect(back.length).toBe(bytes.length)
  })

  it('rounds 64-bit integers and f64 to bf16 once', async () => {
    const [tie, next] = [257n << 54n, 259n << 54n] // each halfway between two bf16
    const list = [tie, tie + 1n, tie - 1n, next, next - 1n, 1n]
    const bytes = new Uint8Array(BigInt64Array.from([...list, ...list.map((each) => -each)]).buffer)
    const got = new Uint16Array((await castBytes(tensorOf(i64, [12], bytes), bf16)).buffer)
    const wanted = [0x5e80, 0x5e81, 0x5e80, 0x5e82, 0x5e81, 0x3f80]
    expect([...got]).toEqual([...wanted, ...wanted.map((code) => code + 0x8000)])
    const format = formats.find((each) => each.id === 'bf16')!
    await fc.assert(
      fc.asyncProperty(fc.array(fc.double({ noNaN: true }), { minLength: 1 }), async (values) => {
        const codes = new Uint16Array(
          (await castBytes(tensorOf(f64, [values.length], encoded(f64, values)), bf16)).buffer,
        )
        expect([...codes]).toEqual(values.map((value) => codeOf(value, format)))
      }),
      { numRuns: 50 },
    )
  })

  it('moves integers exactly', async () => {
    const list = [0n, 1n, (1n << 53n) + 1n, (1n << 63n) - 1n]
    const signed = new Uint8Array(BigInt64Array.from(list).buffer)
    expect(await castBytes(tensorOf(i64, [4], signed), u64)).toEqual(signed)
    expect(await castBytes(tensorOf(u64, [4], signed), i64)).toEqual(signed)
    const values = [-128, 127, 0, -1, 5]
    expect(await castBytes(tensorOf(i64, [5], encoded(i64, values)), i8)).toEqual(encoded(i8, values))
    expect(await castBytes(tensorOf(i8, [5], encoded(i8, values)), i64)).toEqual(encoded(i64, values))
    expect(await castBytes(tensorOf(i16, [5], encoded(i16, values)), i32)).toEqual(encoded(i32, values))
  })

  it('packs and unpacks over window borders', async () => {
    const values = Array.from({ length: 50_001 }, (_, i) => ((i * 5) % 16) - 8)
    const plain = encoded(i16, values)
    const tight = castTensor(tensorOf(i16, [50_001], plain, { data: streamOnly(plain, 1001) }), i4)
    expect(tight.data!.byteLength).toBe(25_001)
    expect(Buffer.compare(await bytesOf(tight.data!, 1000), encoded(i4, values))).toBe(0)
    const wide = castTensor(tight, f16)
    expect(Buffer.compare(await bytesOf(wide.data!, 1000), encoded(f16, values))).toBe(0)
  })

  it('names the tensor, the element and the byte of a value that does not fit', async () => {
    const values = Array.from({ length: 20_000 }, (_, i) => (i === 17_001 ? 300 : i % 256))
    const bytes = encoded(u16, values)
    const source = new MemorySource(Uint8Array.from([...new Uint8Array(10), ...bytes]), 'm.bin')
    const tensor = tensorOf(u16, [20_000], bytes, { name: 'blk.0', data: rangePayload(source, 10, bytes.length) })
    const error = await bytesOf(castTensor(tensor, u8).data!).catch((reason) => reason)
    expect(error.code).toBe('write/value-range')
    expect(error.finding).toMatchObject({ file: 'm.bin', path: 'blk.0', offset: 10 + 34_002 })
    expect(error.message).toContain('element 17001 is 300, which u8 cannot hold')
  })

  it.each([
    { from: f32, value: Number.NaN, to: i32 },
    { from: f32, value: 0.5, to: i8 },
    { from: f64, value: 2 ** 63, to: i64 },
    { from: i8, value: -1, to: u64 },
    { from: i64, value: -1, to: u64 },
    { from: u64, value: 2 ** 63, to: i64 },
    { from: i64, value: 2 ** 62, to: i32 },
    { from: i8, value: 2, to: types.bool },
    { from: i8, value: 0, to: t1 },
    { from: i8, value: -2, to: t2 },
    { from: f32, value: Number.NaN, to: types.f4_e2m1 },
    { from: f32, value: -1, to: f8_e8m0 },
  ])('refuses $value of $from.id as $to.id', async ({ from, value, to }) => {
    await expect(castBytes(tensorOf(from, [1], encoded(from, [value])), to)).rejects.toThrow(/element 0 is/)
  })

  it('casts complex numbers part by part', async () => {
    const pairs = Float32Array.of(1.5, -2, 0.1, Number.NaN)
    const wide = await castBytes(tensorOf(c64, [2], new Uint8Array(pairs.buffer)), c128)
    expect([...new Float64Array(wide.buffer)]).toEqual([1.5, -2, Math.fround(0.1), Number.NaN])
    expect(new Uint8Array(await castBytes(tensorOf(c128, [2], wide), c64)).slice(0, 12)).toEqual(
      new Uint8Array(pairs.buffer).slice(0, 12),
    )
    expect(() => castTensor(tensorOf(c64, [2], new Uint8Array(16)), f32)).toThrow(
      expect.objectContaining({ code: 'usage/no-codec' }),
    )
  })

  it('leaves alone what is right already, and takes a packed tensor for what it holds', async () => {
    const tensor = tensorOf(f16, [2], new Uint8Array(4))
    expect(castTensor(tensor, f16).data).toBe(tensor.data)
    const wrapped = tensorOf(types.packed, [3], Uint8Array.of(0x21, 0x0f), { encoding: i4 })
    const plain = castTensor(wrapped, i4)
    expect([plain.dtype, plain.encoding, plain.data]).toEqual([i4, undefined, wrapped.data])
    expect(valuesOf(i8, await castBytes(wrapped, i8), 3)).toEqual([1, 2, -1])
    expect(() => castTensor(tensorOf(types.packed, [3], new Uint8Array(3)), f32)).toThrow(/cannot be converted/)
    expect(castTensor({ ...tensor, data: null, shape: [2 ** 40, 2 ** 40] }, u1)).toMatchObject({
      dtype: u1,
      data: null,
    })
    expect(dtypeById('u1')).toBe(u1)
  })
})
