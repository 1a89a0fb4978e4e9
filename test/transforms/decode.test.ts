import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../src/bytes/index.js'
import { bf16, c64, type DType, dtypes, f6_e2m3, f32, f64, i4, isReal, packed, u8 } from '../../src/dtypes/index.js'
import { rangePayload } from '../../src/model/index.js'
import { decodedPayload } from '../../src/transforms/decode.js'
import { bytesOf, streamOnly, tensorOf } from './tensors.js'

fc.configureGlobal({ seed: 5 })

const real = [...dtypes.values()].filter((dtype) => isReal(dtype) && dtype.kind !== 'block')

function randomBytes(length: number): Uint8Array {
  let state = 12345
  return Uint8Array.from({ length }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31
    return Math.floor(state / 2 ** 16) % 256
  })
}

function directly(dtype: DType, bytes: Uint8Array, count: number, as: 'f32' | 'f64'): Uint8Array {
  const values = as === 'f32' ? new Float32Array(count) : new Float64Array(count)
  if (values instanceof Float32Array) dtype.codec!.toF32(bytes, values)
  else dtype.codec!.toF64(bytes, values)
  return new Uint8Array(values.buffer)
}

describe.each(real.map((dtype) => ({ id: dtype.id, dtype })))('decodedPayload of $id', ({ dtype }) => {
  it('streams the same bits that the codec gives at once', async () => {
    for (const as of ['f32', 'f64'] as const) {
      for (const shape of [[0], [], [3, 7], [40_003]]) {
        const count = shape.reduce((a, b) => a * b, 1)
        const bytes = randomBytes(dtype.byteLength(shape)!)
        const wanted = directly(dtype, bytes, count, as)
        const whole = decodedPayload(tensorOf(dtype, shape, bytes), as)!
        expect(whole.byteLength).toBe(wanted.byteLength)
        expect(Buffer.compare(await bytesOf(whole, 1000), wanted)).toBe(0)
        const streamed = decodedPayload(tensorOf(dtype, shape, bytes, { data: streamOnly(bytes, 777) }), as)!
        expect(streamed.read === undefined || as === dtype.id).toBe(true)
        expect(Buffer.compare(await bytesOf(streamed, 4099), wanted)).toBe(0)
      }
    }
  })
})

describe('decodedPayload', () => {
  it('reads more at once than the values of a window are made from, and streams the same', async () => {
    const count = 1_000_003
    for (const dtype of [i4, u8, bf16]) {
      const bytes = randomBytes(dtype.byteLength([count])!)
      const reads: number[] = []
      const source = new MemorySource(bytes)
      const counted = {
        ...{ name: source.name, size: source.size, close: () => source.close() },
        read(offset: number, length: number) {
          reads.push(length)
          return source.read(offset, length)
        },
      }
      const tensor = tensorOf(dtype, [count], bytes, { data: rangePayload(counted, 0, bytes.byteLength) })
      const wanted = directly(dtype, bytes, count, 'f32')
      expect(Buffer.compare(await bytesOf(decodedPayload(tensor, 'f32')!, 1 << 20), wanted)).toBe(0)
      expect(Math.max(...reads)).toBe(Math.min(1 << 20, bytes.byteLength))
    }
  })

  it('reads any part', async () => {
    const count = 300_001
    for (const dtype of [i4, f6_e2m3, bf16, u8]) {
      const bytes = randomBytes(dtype.byteLength([count])!)
      const wanted = directly(dtype, bytes, count, 'f32')
      const payload = decodedPayload(tensorOf(dtype, [count], bytes), 'f32')!
      const part = fc
        .tuple(fc.nat(count * 4), fc.nat(count * 4))
        .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
      await fc.assert(
        fc.asyncProperty(part, async ([start, end]) => {
          const got = await payload.read!(start, end - start)
          expect(Buffer.compare(got, wanted.subarray(start, end))).toBe(0)
        }),
        { numRuns: 20 },
      )
      await expect(payload.read!(count * 4, 1)).rejects.toThrow(/requested/)
    }
  })

  it('hands out f32 as it is', () => {
    const data = rangePayload(new MemorySource(new Uint8Array(12)), 4, 8)
    expect(decodedPayload(tensorOf(f32, [2], new Uint8Array(), { data }), 'f32')).toBe(data)
    expect(decodedPayload(tensorOf(f64, [1], new Uint8Array(), { data }), 'f64')).toBe(data)
  })

  it('decodes what a packed tensor holds', async () => {
    const payload = decodedPayload(tensorOf(packed, [3], Uint8Array.of(0x21, 0x0f), { encoding: i4 }), 'f64')!
    expect([...new Float64Array((await bytesOf(payload)).buffer)]).toEqual([1, 2, -1])
  })

  it('is undefined where there is nothing to decode', () => {
    expect(decodedPayload(tensorOf(packed, [3], new Uint8Array(3)), 'f32')).toBeUndefined()
    expect(decodedPayload(tensorOf(c64, [1], new Uint8Array(8)), 'f32')).toBeUndefined()
    expect(decodedPayload(tensorOf(f64, [1], new Uint8Array(), { data: null }), 'f32')).toBeUndefined()
  })

  it('notices that shape and bytes do not agree, at once and while streaming', async () => {
    expect(() => decodedPayload(tensorOf(bf16, [3], new Uint8Array(4)), 'f32')).toThrow(/shape/)
    expect(() => decodedPayload(tensorOf(bf16, [2 ** 30, 2 ** 30], new Uint8Array(4)), 'f32')).toThrow(/shape/)
    const short = { ...streamOnly(new Uint8Array(5)), byteLength: 6 }
    await expect(
      bytesOf(decodedPayload(tensorOf(bf16, [3], new Uint8Array(), { data: short }), 'f32')!),
    ).rejects.toThrow(/came/)
  })
})
