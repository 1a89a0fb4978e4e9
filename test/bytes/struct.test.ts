import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Cursor, ExtentList, f32, i32, raw, size, struct, u8, u16, u32, u64, wide } from '../../src/bytes/index.js'
import { collectingReport, type Finding, strictReport, TareError } from '../../src/errors/index.js'

const record = struct({
  magic: raw(4),
  kind: u8,
  version: u16,
  entryCount: u32,
  delta: i32,
  scale: f32,
  id: u64,
  dataOffset: size,
})

const values = fc.record({
  magic: fc.uint8Array({ minLength: 4, maxLength: 4 }),
  kind: fc.nat(255),
  version: fc.nat(65_535),
  entryCount: fc.nat(2 ** 32 - 1),
  delta: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  scale: fc.float({ noNaN: true }),
  id: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  dataOffset: fc.maxSafeNat(),
})

describe('struct', () => {
  it('reads what it writes, in both byte orders and at any alignment', () => {
    fc.assert(
      fc.property(values, fc.boolean(), fc.nat(7), (given, littleEndian, shift) => {
        const bytes = new Uint8Array(record.size + shift)
        record.writeInto(new DataView(bytes.buffer), shift, given, littleEndian)
        const cursor = new Cursor(bytes, strictReport('f'), { littleEndian })
        cursor.take(shift, 'before')
        expect(record.read(cursor)).toEqual(given)
        expect(cursor.remaining).toBe(0)
      }),
    )
  })

  it('knows sizes and offsets', () => {
    expect(record.size).toBe(35)
    expect(record.offsetOf('entryCount')).toBe(7)
    expect(record.offsetOf('dataOffset')).toBe(27)
    expect(record.nameOf('dataOffset')).toBe('data_offset')
  })

  it('reads single fields as it reads the whole record', () => {
    fc.assert(
      fc.property(values, fc.nat(7), (given, shift) => {
        const bytes = new Uint8Array(record.size + shift)
        const view = new DataView(bytes.buffer)
        record.writeInto(view, shift, given)
        for (const key of Object.keys(given) as (keyof typeof given)[])
          expect(record.get[key](view, shift)).toEqual(given[key])
      }),
    )
  })

  it('reads wide numbers as numbers as long as they are exact', () => {
    const pair = struct({ a: wide, b: wide })
    const number = fc.oneof(fc.maxSafeNat(), fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }))
    fc.assert(
      fc.property(number, number, fc.boolean(), (a, b, littleEndian) => {
        const bytes = pair.write({ a, b }, littleEndian)
        expect(pair.read(new Cursor(bytes, strictReport('f'), { littleEndian }))).toEqual({ a, b })
        const extents = new ExtentList()
        expect(pair.read(new Cursor(bytes, strictReport('f'), { littleEndian, extents }))).toEqual({ a, b })
        expect(extents.extents.map(({ value }) => value)).toEqual([BigInt(a), BigInt(b)])
      }),
    )
  })

  it('names fields in errors and in the byte map', () => {
    const extents = new ExtentList()
    const cursor = new Cursor(new Uint8Array(20), strictReport('f'), { base: 100, extents, path: ['records', 3] })
    expect(() => record.read(cursor)).toThrowError(TareError)
    expect(extents.extents.map((extent) => extent.path)).toEqual([
      'records[3].magic',
      'records[3].kind',
      'records[3].version',
      'records[3].entry_count',
      'records[3].delta',
      'records[3].scale',
    ])
    expect(extents.extents[3]).toMatchObject({ offset: 107, length: 4, value: 0, kind: 'field' })
  })

  it('reports a short buffer with offset and path', () => {
    const findings: Finding[] = []
    const cursor = new Cursor(new Uint8Array(5), collectingReport('f', findings), { base: 10, path: ['header'] })
    expect(() => record.read(cursor)).toThrowError(TareError)
    expect(findings).toMatchObject([{ code: 'number/truncated', offset: 15, path: 'header.version' }])
  })

  it('refuses sizes beyond 2^53-1', () => {
    const bytes = struct({ at: u64 }).write({ at: 2n ** 53n })
    const read = (): unknown => struct({ at: size }).read(new Cursor(bytes, strictReport('f')))
    expect(read).toThrowError(expect.objectContaining({ code: 'number/too-large' }))
  })
})
