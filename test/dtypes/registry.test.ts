import { describe, expect, it } from 'vitest'
import { swapBytes } from '../../src/bytes/views.js'
import { dtypeById, dtypes, f32, isReal, packed, u1 } from '../../src/dtypes/index.js'

const bits: Readonly<Record<string, number>> = {
  ...{ f64: 64, f32: 32, f16: 16, bf16: 16, f8_e4m3: 8, f8_e5m2: 8, f8_e8m0: 8, f8_e4m3fnuz: 8, f8_e5m2fnuz: 8 },
  ...{ f6_e2m3: 6, f6_e3m2: 6, f4_e2m1: 4, i64: 64, i32: 32, i16: 16, i8: 8, u64: 64, u32: 32, u16: 16, u8: 8 },
  ...{ bool: 8, i4: 4, i2: 2, i1: 1, u4: 4, u2: 2, u1: 1, t2: 2, t1: 1, bitset: 8, c32: 32, c64: 64, c128: 128 },
}

describe('the table of types', () => {
  it('has every plain and packed type once', () => {
    for (const id of Object.keys(bits)) expect(dtypeById(id)?.id).toBe(id)
    expect(dtypeById('f33')).toBeUndefined()
    expect(dtypeById('__proto__')).toBeUndefined()
  })

  it.each(Object.entries(bits))('%s takes %i bits per element, filled up to whole bytes', (id, width) => {
    const dtype = dtypeById(id)!
    for (const count of [0, 1, 2, 3, 4, 5, 7, 8, 9, 1001]) {
      expect(dtype.byteLength([count])).toBe(Math.ceil((count * width) / 8))
      expect(dtype.byteLength([count, 3])).toBe(Math.ceil((count * 3 * width) / 8))
    }
    expect(dtype.byteLength([])).toBe(Math.ceil(width / 8))
    expect((dtype.group.bytes * 8) / dtype.group.elements).toBe(width)
    expect(dtype.byteLength([dtype.group.elements])).toBe(dtype.group.bytes)
  })

  it('notices shapes beyond 2^53-1', () => {
    expect(f32.byteLength([2 ** 52])).toBeUndefined()
    expect(f32.byteLength([2 ** 30, 2 ** 30])).toBeUndefined()
    expect(f32.byteLength([2 ** 51 - 1])).toBe(2 ** 53 - 4)
    expect(u1.byteLength([2 ** 53 - 1])).toBe(2 ** 50)
    expect(f32.byteLength([0, 2 ** 53 - 1, 2 ** 53 - 1])).toBe(0)
  })

  it('knows which types decode to numbers', () => {
    const unreal = [...dtypes.values()].filter((dtype) => !isReal(dtype)).map((dtype) => dtype.id)
    expect(unreal).toEqual(expect.arrayContaining(['c64', 'c128', 'packed']))
    expect(packed.byteLength([4])).toBeUndefined()
    for (const id of Object.keys(bits)) expect(isReal(dtypeById(id)!)).toBe(!id.startsWith('c'))
  })
})

describe('swapBytes', () => {
  it('reverses each group, for hosts of the other byte order', () => {
    const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
    swapBytes(bytes, 4)
    expect([...bytes]).toEqual([4, 3, 2, 1, 8, 7, 6, 5])
    swapBytes(bytes.subarray(2, 6), 2)
    expect([...bytes]).toEqual([4, 3, 1, 2, 7, 8, 6, 5])
  })
})
