import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countDistinct, NameList } from '../../../src/formats/oinf/name-list.js'
import { RangeList } from '../../../src/formats/oinf/range-list.js'

const namesIn = (list: readonly string[]) => ({
  get length() {
    return list.length
  },
  nameAt: (index: number) => list[index]!,
})

describe('names of a table', () => {
  it('are known once they were there, whether or not they ascend and came into the table', () => {
    const entry = fc.record({ name: fc.string({ maxLength: 2 }), isListed: fc.boolean() })
    const some = fc.array(entry, { maxLength: 100 })
    const ascending = some.map((list) => list.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    fc.assert(
      fc.property(ascending, some, (first, last) => {
        const list: string[] = []
        const names = new NameList(namesIn(list))
        const seen = new Set<string>()
        for (const { name, isListed } of [...first, ...last]) {
          expect(names.isRepeated(name)).toBe(seen.has(name))
          seen.add(name)
          if (isListed) list.push(name)
          else names.leaveOut(name)
        }
        expect(countDistinct(namesIn(list))).toBe(new Set(list).size)
      }),
    )
  })
})

describe('a list of ranges', () => {
  it('keeps what was added, and sorts it as a stable sort does', () => {
    const range = fc.record({ kind: fc.constantFrom('a', 'b'), offset: fc.nat(20), length: fc.nat(3) })
    fc.assert(
      fc.property(fc.array(range, { maxLength: 50 }), (ranges) => {
        const list = new RangeList(['a', 'b'])
        const all = ranges.map((each, index) => ({ ...each, index }))
        for (const { kind, index, ...place } of all) list.push(kind, place, index)
        expect([...list]).toEqual(all)
        const sorted = all.toSorted((a, b) => a.offset - b.offset || a.length - b.length)
        expect([...list.inOffsetOrder()]).toEqual(sorted)
      }),
    )
  })
})
