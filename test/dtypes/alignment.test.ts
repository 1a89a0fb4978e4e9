import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dtypes, isReal } from '../../src/dtypes/index.js'

fc.configureGlobal({ seed: 5 })

const real = [...dtypes.values()].filter((dtype) => isReal(dtype) && dtype.kind !== 'block')
const bytesOf = (values: Float32Array | Float64Array): number[] => [...new Uint8Array(values.buffer)]

/** The same bytes at another place in memory. */
function moved(bytes: Uint8Array, shift: number): Uint8Array {
  const copy = new Uint8Array(bytes.length + shift + 9).fill(0xa5).subarray(shift, shift + bytes.length)
  copy.set(bytes)
  return copy
}

describe.each(real.map((dtype) => ({ id: dtype.id, dtype })))('$id', ({ dtype }) => {
  const codec = dtype.codec!

  it('decodes to the same bits wherever the bytes lie', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 96 }), fc.integer({ min: 1, max: 7 }), (content, shift) => {
        const count = Math.floor(content.length / dtype.group.bytes) * dtype.group.elements
        const [single, moved32] = [new Float32Array(count), new Float32Array(count)]
        const [double, moved64] = [new Float64Array(count), new Float64Array(count)]
        codec.toF32(content, single)
        codec.toF32(moved(content, shift), moved32)
        codec.toF64(content, double)
        codec.toF64(moved(content, shift), moved64)
        expect(bytesOf(moved32)).toEqual(bytesOf(single))
        expect(bytesOf(moved64)).toEqual(bytesOf(double))
        // The target may itself be a part of something larger; its neighbours must not change.
        const larger = new Float32Array(count + 2).fill(7)
        codec.toF32(content, larger.subarray(1, count + 1))
        expect(bytesOf(larger.slice(1, count + 1))).toEqual(bytesOf(single))
        expect([larger[0], larger[count + 1]]).toEqual([7, 7])
      }),
      { numRuns: 30 },
    )
  })

  it('encodes to the same bytes wherever they go, and no further', () => {
    const { lowest, highest } = dtype.values!
    const values = Float64Array.from({ length: 21 }, (_, i) => (i % 3 === 0 || highest < 1 ? lowest : 1))
    const size = dtype.byteLength([values.length])!
    const plain = new Uint8Array(size)
    expect(codec.fromF64!(values, plain)).toBe(-1)
    for (let shift = 1; shift < 8; shift++) {
      const whole = new Uint8Array(size + shift + 1).fill(0xa5)
      expect(codec.fromF64!(values, whole.subarray(shift))).toBe(-1)
      expect(whole.subarray(shift, shift + size)).toEqual(plain)
      expect([whole[shift - 1], whole[shift + size]]).toEqual([0xa5, 0xa5])
    }
  })
})
