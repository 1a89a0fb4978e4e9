import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { naturalOrder, orderOfNames } from '../../../viewer/src/engine/rooms/table/name-order.js'
import { sortByNumber } from '../../../viewer/src/engine/rooms/table/radix.js'

const character = fc.constantFrom(...'ab.0129_/é\u4e00')
const name = fc.string({ unit: character, maxLength: 12 })

describe('the order of names', () => {
  it('is that of comparing them one by one, equal ones as they were', () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 200 }), (names) => {
        const wanted = names.map((_, i) => i).sort((a, b) => naturalOrder(names[a]!, names[b]!) || a - b)
        expect([...orderOfNames(names)]).toEqual(wanted)
      }),
    )
  })

  it('holds for many that begin alike, in any order', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => {
      const at = (i * 7919) % 20_000
      return `model.layers.${at % 61}.mlp.experts.${Math.floor(at / 61)}.weight${at % 3 === 0 ? '' : '_scale'}`
    })
    const order = orderOfNames(names)
    expect(new Set(order).size).toBe(names.length)
    for (let i = 1; i < order.length; i++)
      expect(naturalOrder(names[order[i - 1]!]!, names[order[i]!]!)).toBeLessThan(1)
  })

  it('takes names with any character, and none', () => {
    expect([...orderOfNames([])]).toEqual([])
    expect([...orderOfNames(['', 'b\0', 'a\0b', 'a'])]).toEqual([0, 3, 2, 1])
    expect([...orderOfNames(['1'.repeat(100), '1'.repeat(3)])]).toEqual([1, 0])
  })
})

describe('sorting by number', () => {
  it('is the order of the numbers, equal ones as they were', () => {
    const number = fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: -3, max: 3 }), fc.constant(-0))
    fc.assert(
      fc.property(fc.array(number, { maxLength: 300 }), (keys) => {
        const indexes = Uint32Array.from(keys, (_, i) => 1000 - i)
        const wanted = keys
          .map((key, i) => [key, i] as const)
          .sort(([a, i], [b, j]) => (a < b ? -1 : a > b ? 1 : i - j))
        expect([...sortByNumber(indexes, Float64Array.from(keys))]).toEqual(wanted.map(([, i]) => 1000 - i))
      }),
    )
  })
})
