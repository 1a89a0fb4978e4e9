import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameOrder } from '../../src/bytes/name-order.js'

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ maxLength: 2 }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\ufffd', '\ufffe', 'a'), maxLength: 3 }),
  fc.uint8Array({ maxLength: 3 }),
)

describe('the order of names', () => {
  it('is that of their bytes, and stable', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 100 }), (names) => {
        const bytes = names.map((each) => (typeof each === 'string' ? new TextEncoder().encode(each) : each))
        const expected = [...names.keys()].sort((a, b) => Buffer.compare(bytes[a]!, bytes[b]!))
        const order = nameOrder(names.length, (position) => names[position]!)
        expect([...(order ?? names.keys())]).toEqual(expected)
      }),
    )
  })

  it('is that of their ranks first', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ maxLength: 2 }), fc.integer({ min: -2, max: 2 }))), (list) => {
        const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
        const expected = [...list.keys()].sort((a, b) => list[a]![1] - list[b]![1] || compare(list[a]![0], list[b]![0]))
        const order = nameOrder(
          list.length,
          (position) => list[position]![0],
          (position) => list[position]![1],
        )
        expect([...(order ?? list.keys())]).toEqual(expected)
      }),
    )
  })

  it('is that of their bytes where halves of surrogate pairs seem to ascend', () => {
    const names = ['\ufffe', '\ud800']
    expect(nameOrder(names.length, (position) => names[position]!)).toEqual(Uint32Array.of(1, 0))
  })

  it('is not made for names that ascend', () => {
    const names = ['', 'a', 'a', 'b', '\uffee', '\u{10000}']
    expect(nameOrder(names.length, (position) => names[position]!)).toBeUndefined()
  })
})
