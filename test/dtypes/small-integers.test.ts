import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type DType, dtypeById, f6_e2m3, i1, i2, i4, t1, t2, u1, u2, u4 } from '../../src/dtypes/index.js'

fc.configureGlobal({ seed: 5 })

/** Values by code, as the format documents give them. */
const meanings: readonly { dtype: DType; bits: number; values: readonly number[]; writable?: readonly number[] }[] = [
  { dtype: i4, bits: 4, values: [0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1] },
  { dtype: u4, bits: 4, values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] },
  { dtype: i2, bits: 2, values: [0, 1, -2, -1] },
  { dtype: u2, bits: 2, values: [0, 1, 2, 3] },
  { dtype: i1, bits: 1, values: [0, -1] },
  { dtype: u1, bits: 1, values: [0, 1] },
  { dtype: t2, bits: 2, values: [0, 1, -2, -1], writable: [0, 1, -1] },
  { dtype: t1, bits: 1, values: [-1, 1] },
]

describe.each(meanings)('$dtype.id', ({ dtype, bits, values, writable = values }) => {
  const codec = dtype.codec!

  it('reads the bits of the flattened tensor from the lowest up', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.nat(7), fc.nat(3), (content, short, shift) => {
        const bytes = new Uint8Array(content.length + shift).subarray(shift)
        bytes.set(content)
        const count = Math.max(0, (content.length * 8) / bits - short)
        const wanted = Array.from({ length: count }, (_, i) => {
          const inByte = Math.floor(content[Math.floor((i * bits) / 8)]! / 2 ** ((i * bits) % 8))
          return values[inByte % 2 ** bits]!
        })
        const [single, double] = [new Float32Array(count), new Float64Array(count)]
        codec.toF32(bytes, single)
        codec.toF64(bytes, double)
        expect([...single]).toEqual(wanted)
        expect([...double]).toEqual(wanted)
        expect(wanted.map((_, i) => codec.element(bytes, i))).toEqual(wanted)
      }),
    )
  })

  it('writes what it reads, with zero bits at the end', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...writable), { maxLength: 50 }), (list) => {
        const size = dtype.byteLength([list.length])!
        const target = new Uint8Array(size + 1).fill(0xff)
        expect(codec.fromF64!(Float64Array.from(list), target)).toBe(-1)
        const double = new Float64Array(list.length)
        codec.toF64(target, double)
        expect([...double]).toEqual(list)
        const used = (list.length * bits) % 8
        if (used > 0) expect(Math.floor(target[size - 1]! / 2 ** used)).toBe(0)
        expect(target[size]).toBe(0xff)
      }),
    )
  })

  it('refuses every other value', () => {
    const candidates = [
      -17,
      -9,
      -8,
      -3,
      -2,
      -1,
      0,
      1,
      2,
      3,
      4,
      8,
      15,
      16,
      256,
      0.5,
      -0.5,
      Number.NaN,
      Number.NEGATIVE_INFINITY,
    ]
    const good = writable[1]!
    for (const value of candidates.filter((each) => !writable.includes(each))) {
      expect(codec.fromF64!(Float64Array.of(good, good, value, good), new Uint8Array(4))).toBe(2)
    }
  })
})

describe('bit order', () => {
  const decoded = (dtype: DType, bytes: readonly number[], count: number): number[] => {
    const target = new Float32Array(count)
    dtype.codec!.toF32(Uint8Array.from(bytes), target)
    return [...target]
  }

  it('has the first element in the low bits', () => {
    expect(decoded(i4, [0x21, 0xf8], 4)).toEqual([1, 2, -8, -1])
    expect(decoded(u2, [0b11100100], 4)).toEqual([0, 1, 2, 3])
    expect(decoded(t1, [0b00000101], 3)).toEqual([1, -1, 1])
    expect(decoded(dtypeById('f4_e2m1')!, [0x72, 0x0f], 3)).toEqual([1, 6, -6])
  })

  it('lets six-bit elements cross bytes', () => {
    // Codes 1, 2, 3, 63 and, in a second group, 32: 000001 000010 000011 111111 | 100000
    expect(decoded(f6_e2m3, [0b10000001, 0b00110000, 0b11111100, 0b00100000], 5)).toEqual([
      0.125, 0.25, 0.375, -7.5, -0,
    ])
  })

  it('holds over long runs', () => {
    const list = Float64Array.from({ length: 20_001 }, (_, i) => ((i * 7) % 16) - 8)
    const bytes = new Uint8Array(10_001)
    const back = new Float64Array(list.length)
    expect(i4.codec!.fromF64!(list, bytes)).toBe(-1)
    i4.codec!.toF64(bytes, back)
    expect(back).toEqual(list)
  })
})
