import { describe, expect, it } from 'vitest'
import { ggmlTypeOf, ggmlTypes, removedGgmlTypes } from '../../../src/dtypes/ggml/types.js'
import { dtypeById, f32, ggmlTypeByName, ggmlTypeByNumber, i64, u8 } from '../../../src/dtypes/index.js'
import { blockBytes, fieldOffset, layouts, wideNumbers } from '../../../src/kernels/ggml/layouts.js'
import { golden } from './golden.js'

/** Bits per element, from what the types are said to take: code bits, plus scale bits shared by the block. */
const bitsPerElement: Readonly<Record<string, number>> = {
  ...{
    q4_0: 4 + 16 / 32,
    q4_1: 4 + 32 / 32,
    q5_0: 5 + 16 / 32,
    q5_1: 5 + 32 / 32,
    q8_0: 8 + 16 / 32,
    q8_1: 8 + 32 / 32,
  },
  ...{ q2_k: 2.625, q3_k: 3.4375, q4_k: 4.5, q5_k: 5.5, q6_k: 6.5625, q8_k: 8 + 32 / 256 + 16 / 16 },
  ...{ iq1_s: 1.5625, iq1_m: 1.75, iq2_xxs: 2.0625, iq2_xs: 2.3125, iq2_s: 2.5625, iq3_xxs: 3.0625, iq3_s: 3.4375 },
  ...{ iq4_nl: 4.5, iq4_xs: 4.25, tq1_0: 1.6875, tq2_0: 2.0625, mxfp4: 4 + 8 / 32, nvfp4: 4 + 8 / 16 },
  ...{ q1_0: 1 + 16 / 128, q2_0: 2 + 16 / 64 },
}

describe('the types of ggml', () => {
  it('take the bytes that their bits per element say', () => {
    expect(Object.keys(bitsPerElement).sort()).toEqual(Object.keys(layouts).sort())
    for (const [name, layout] of Object.entries(layouts)) {
      expect((blockBytes(layout) * 8) / layout.elements, name).toBe(bitsPerElement[name])
    }
  })

  it('have the block sizes of the C code', () => {
    for (const type of golden) {
      const found = ggmlTypeByNumber(type.ggmlType)!
      expect(found.dtype.id).toBe(type.dtype)
      expect(found.dtype.group).toEqual({ elements: type.blockSize, bytes: type.typeSize })
    }
    // Two more types, which no quantizer of the list makes.
    expect(ggmlTypeByNumber(9)!.dtype.group).toEqual({ elements: 32, bytes: 36 })
    expect(ggmlTypeByNumber(15)!.dtype.group).toEqual({ elements: 256, bytes: 292 })
  })

  it('are found by number, by name and by dtype', () => {
    for (const type of ggmlTypes) {
      expect(ggmlTypeByNumber(type.number)).toBe(type)
      expect(ggmlTypeByName(type.name)).toBe(type)
      expect(ggmlTypeByName(type.name.toLowerCase())).toBe(type)
      expect(ggmlTypeOf(type.dtype)).toBe(type)
      expect(dtypeById(type.dtype.id)).toBe(type.dtype)
    }
    expect(ggmlTypes.length).toBe(35)
    expect(ggmlTypeByNumber(0)!.dtype).toBe(f32)
    expect(ggmlTypeByNumber(27)!.dtype).toBe(i64)
    expect(ggmlTypeByName('Q4_K')).toMatchObject({ number: 12, dtype: { id: 'ggml.q4_k' } })
    for (const absent of [-1, 1.5, 43, 99, 2 ** 32 - 1, ...removedGgmlTypes.keys()]) {
      expect(ggmlTypeByNumber(absent), `${absent}`).toBeUndefined()
    }
    expect(ggmlTypeByName('__proto__')).toBeUndefined()
    expect(ggmlTypeOf(u8)).toBeUndefined()
  })

  it('refuse rows that are no whole number of blocks', () => {
    const q8_0 = dtypeById('ggml.q8_0')!
    expect(q8_0.byteLength([2, 64])).toBe(4 * 34)
    expect(q8_0.byteLength([2, 48])).toBeUndefined()
    expect(q8_0.byteLength([32, 3])).toBeUndefined()
    expect(q8_0.byteLength([])).toBeUndefined()
    expect(q8_0.byteLength([0, 32])).toBe(0)
    expect(q8_0.byteLength([3, 0])).toBe(0)
    expect(q8_0.byteLength([0, 33])).toBeUndefined()
    expect(q8_0.byteLength([2 ** 40, 2 ** 14])).toBeUndefined()
    expect(dtypeById('ggml.q2_k')!.byteLength([3, 512])).toBe(6 * 84)
  })

  it('know where their fields and wide numbers lie', () => {
    expect(fieldOffset(layouts.q6_k, 'd')).toBe(208)
    expect(wideNumbers(layouts.q4_1)).toEqual([
      { offset: 0, width: 2 },
      { offset: 2, width: 2 },
    ])
    expect(wideNumbers(layouts.mxfp4)).toEqual([])
    expect(wideNumbers(layouts.q8_k)[0]).toEqual({ offset: 0, width: 4 })
    expect(() => fieldOffset(layouts.q8_0, 'dmin')).toThrow(RangeError)
  })
})
