import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dtypeById, f32 } from '../../../src/dtypes/index.js'
import { bytesPayload, readPayload } from '../../../src/model/index.js'
import { castTensor } from '../../../src/transforms/cast.js'
import { golden, goldenBytes, goldenFloats } from './golden.js'

fc.configureGlobal({ seed: 9 })

const legacy = ['q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1']
const encoded = [...legacy, 'q2_k', 'q3_k', 'q4_k', 'q5_k', 'q6_k']
const typeOf = (name: string) => golden.find((type) => type.name === name)!

function rmse(a: Float32Array, b: Float32Array): number {
  let sum = 0
  let count = 0
  a.forEach((value, i) => {
    if (!Number.isFinite(value)) return
    sum += (value - b[i]!) ** 2
    count++
  })
  return Math.sqrt(sum / count)
}

function encode(name: string, values: Float32Array): Uint8Array {
  const dtype = dtypeById(`ggml.${name}`)!
  const bytes = new Uint8Array(dtype.byteLength([values.length])!)
  expect(dtype.codec!.fromF32!(values, bytes)).toBe(-1)
  return bytes
}

function decode(name: string, bytes: Uint8Array, count: number): Float32Array {
  const values = new Float32Array(count)
  dtypeById(`ggml.${name}`)!.codec!.toF32(bytes, values)
  return values
}

describe('encoding', () => {
  it.each(encoded)('%s loses no more than 1.01 times what ggml loses', (name) => {
    const source = goldenFloats(typeOf(name).src)
    const back = decode(name, encode(name, source), source.length)
    expect(rmse(source, back)).toBeLessThanOrEqual(1.01 * typeOf(name).rmse)
  })

  it.each(legacy)('%s gives the bytes of ggml', (name) => {
    expect(encode(name, goldenFloats(typeOf(name).src))).toEqual(goldenBytes(typeOf(name).quantized))
  })

  it.each(['f16', 'bf16'])('%s gives the bytes of ggml but for NaN payloads', (name) => {
    const source = goldenFloats(typeOf(name).src)
    const wanted = goldenBytes(typeOf(name).quantized)
    const bytes = new Uint8Array(wanted.length)
    dtypeById(name)!.codec!.fromF32!(source, bytes)
    source.forEach((value, i) => {
      if (!Number.isNaN(value))
        expect(bytes.subarray(2 * i, 2 * i + 2), `${i}`).toEqual(wanted.subarray(2 * i, 2 * i + 2))
    })
  })

  it.each(encoded)('%s is as close as its steps allow, whatever the values', (name) => {
    const { elements } = dtypeById(`ggml.${name}`)!.group
    const values = fc.array(fc.double({ min: -1000, max: 1000, noNaN: true }), {
      minLength: elements,
      maxLength: elements,
    })
    const bits = Number(/\d/.exec(name)![0])
    fc.assert(
      fc.property(values, (list) => {
        const source = Float32Array.from(list)
        const bytes = encode(name, source)
        const back = decode(name, bytes, elements)
        const range = Math.max(...source, 0) - Math.min(...source, 0)
        // Two and a half steps of the widest range: one for rounding, the rest for scales that are themselves rounded.
        source.forEach((value, i) => {
          expect(Math.abs(value - back[i]!)).toBeLessThanOrEqual((2.5 * range) / (2 ** bits - 1) + 1e-3)
        })
        expect(encode(name, source)).toEqual(bytes)
      }),
      { numRuns: 20 },
    )
  })

  it.each(encoded)('%s keeps zeros and constants', (name) => {
    const { elements } = dtypeById(`ggml.${name}`)!.group
    expect(decode(name, encode(name, new Float32Array(elements)), elements).every((value) => value === 0)).toBe(true)
    for (const constant of [1, -1, 3e-5, -40000]) {
      const back = decode(name, encode(name, new Float32Array(elements).fill(constant)), elements)
      for (const value of back) expect(Math.abs(value - constant)).toBeLessThanOrEqual(Math.abs(constant) * 0.01 + 1e-6)
    }
    const tiny = decode(name, encode(name, new Float32Array(elements).fill(1e-42)), elements)
    expect(tiny.every((value) => Math.abs(value) < 1e-6)).toBe(true)
  })

  it.each(encoded)('%s names the first value that it cannot hold', (name) => {
    const dtype = dtypeById(`ggml.${name}`)!
    const count = 2 * dtype.group.elements
    const bytes = new Uint8Array(2 * dtype.group.bytes)
    for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 3e38]) {
      const values = new Float32Array(count).fill(0.5)
      values[count - 3] = bad
      expect(dtype.codec!.fromF32!(values, bytes)).toBe(count - 3)
      expect(dtype.codec!.fromF64!(Float64Array.from(values), bytes)).toBe(count - 3)
    }
  })

  it('takes f64 as if rounded to f32 first', () => {
    const source = Float64Array.from({ length: 5 * 4096 + 256 }, (_, i) => Math.sin(i) / 3)
    const dtype = dtypeById('ggml.q4_k')!
    const bytes = new Uint8Array(dtype.byteLength([source.length])!)
    expect(dtype.codec!.fromF64!(source, bytes)).toBe(-1)
    expect(bytes).toEqual(encode('q4_k', Float32Array.from(source)))
  })

  it('is what a cast to a block type does', async () => {
    const source = goldenFloats(typeOf('q4_0').src)
    const data = bytesPayload(new Uint8Array(source.buffer, source.byteOffset, source.byteLength))
    const tensor = { name: 'w', dtype: f32, shape: [8, 512], order: 'row', role: 'weight', data } as const
    const cast = castTensor(tensor, dtypeById('ggml.q4_0')!)
    expect(await readPayload(cast.data!)).toEqual(goldenBytes(typeOf('q4_0').quantized))
    const again = castTensor(cast, dtypeById('ggml.q8_0')!)
    const back = decode('q8_0', await readPayload(again.data!), source.length)
    expect(rmse(decode('q4_0', goldenBytes(typeOf('q4_0').quantized), source.length), back)).toBeLessThan(0.05)
  })
})
