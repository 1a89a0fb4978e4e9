import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareNames } from '../../src/bytes/name-order.js'

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.string({ maxLength: 2 }),
  fc.string({ unit: fc.constantFrom('\ud800', '\udc00', '\ufffd', '\ufffe', 'a'), maxLength: 3 }),
  fc.uint8Array({ maxLength: 3 }),
)

describe('the order of names', () => {
  it('is that of their bytes', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 100 }), (names) => {
        const bytesOf = (each: string | Uint8Array) =>
          typeof each === 'string' ? new TextEncoder().encode(each) : each
        const expected = names.toSorted((a, b) => Buffer.compare(bytesOf(a), bytesOf(b)))
        expect(names.toSorted(compareNames)).toEqual(expected)
      }),
    )
  })

  it('is that of their bytes where halves of surrogate pairs seem to ascend', () => {
    expect(['\ufffe', '\ud800'].toSorted(compareNames)).toEqual(['\ud800', '\ufffe'])
  })
})
