import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ggmlBlockTypes } from '../../../src/dtypes/ggml/types.js'
import { dtypeById } from '../../../src/dtypes/index.js'
import { golden, goldenBytes, goldenFloats } from './golden.js'

fc.configureGlobal({ seed: 8 })

const patterns = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer, values.byteOffset, values.length)

describe.each(golden)('$name', (type) => {
  const codec = dtypeById(type.dtype)!.codec!

  it('decodes to the bits of the C code', () => {
    const values = new Float32Array(type.rows * type.cols)
    codec.toF32(goldenBytes(type.quantized), values)
    expect(Buffer.compare(Buffer.from(values.buffer), goldenBytes(type.dequantized))).toBe(0)
  })

  it('gives single elements and f64 the same values', () => {
    const bytes = goldenBytes(type.quantized)
    const wanted = goldenFloats(type.dequantized)
    const doubles = new Float64Array(wanted.length)
    codec.toF64(bytes, doubles)
    expect(doubles).toEqual(Float64Array.from(wanted))
    for (let index = 0; index < wanted.length; index += 37) expect(codec.element(bytes, index)).toBe(wanted[index])
  })
})

describe.each(ggmlBlockTypes.map((dtype) => ({ id: dtype.id, dtype })))('$id', ({ dtype }) => {
  const { group, codec } = dtype
  const blocks = fc.uint8Array({ minLength: 2 * group.bytes, maxLength: 2 * group.bytes })

  it('decodes any bytes anywhere in memory, with one kind of NaN', () => {
    fc.assert(
      fc.property(blocks, fc.integer({ min: 1, max: 7 }), (bytes, shift) => {
        const values = new Float32Array(2 * group.elements)
        codec!.toF32(bytes, values)
        const moved = new Uint8Array(bytes.length + shift)
        moved.set(bytes, shift)
        const larger = new Float32Array(values.length + 2).fill(7)
        codec!.toF32(moved.subarray(shift), larger.subarray(1, values.length + 1))
        expect(patterns(larger.slice(1, -1))).toEqual(patterns(values))
        expect([larger[0], larger.at(-1)]).toEqual([7, 7])
        values.forEach((value, i) => {
          if (Number.isNaN(value)) expect(patterns(values)[i]).toBe(0x7fc00000)
        })
      }),
      { numRuns: 20 },
    )
  })

  it('decodes part of a block, and refuses missing bytes', () => {
    const bytes = new Uint8Array(2 * group.bytes).map((_, i) => (i * 37) % 120)
    const [whole, part] = [new Float32Array(2 * group.elements), new Float32Array(group.elements + 3)]
    codec!.toF32(bytes, whole)
    codec!.toF32(bytes, part)
    expect(patterns(part)).toEqual(patterns(whole.slice(0, part.length)))
    expect(() => codec!.toF32(bytes.subarray(1), whole)).toThrow(RangeError)
  })
})

describe('unbounded scales', () => {
  it('give one NaN pattern, wherever the scale is stored', () => {
    // All bytes 0xff: every f16 and f32 scale is NaN, also the one that IQ1_M spreads over four words.
    for (const dtype of ggmlBlockTypes) {
      const values = new Float32Array(dtype.group.elements)
      dtype.codec!.toF32(new Uint8Array(dtype.group.bytes).fill(0xff), values)
      const isBounded = dtype.id === 'ggml.mxfp4' || dtype.id === 'ggml.nvfp4'
      expect(new Set(patterns(values)).has(0x7fc00000), dtype.id).toBe(!isBounded)
    }
  })

  it('follow ggml in the special scales of the 4-bit floats', () => {
    const nvfp4 = (scale: number): number =>
      dtypeById('ggml.nvfp4')!.codec!.element(
        Uint8Array.from({ length: 36 }, (_, i) => (i < 4 ? scale : 0x22)),
        0,
      ) as number
    expect([0x7f, 0xff, 0x80, 0x01, 0x38].map(nvfp4)).toEqual([0, 480, 0, 2 ** -9, 1])
    const mxfp4 = (exponent: number): number =>
      dtypeById('ggml.mxfp4')!.codec!.element(
        Uint8Array.from({ length: 17 }, (_, i) => (i < 1 ? exponent : 0x81)),
        0,
      ) as number
    expect([0, 1, 127, 255].map(mxfp4)).toEqual([2 ** -128, 2 ** -127, 0.5, 2 ** 127])
    const minusZero = dtypeById('ggml.mxfp4')!.codec!.element(new Uint8Array(17).fill(0x88), 0)
    expect(Object.is(minusZero, 0)).toBe(true)
  })
})
