import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sortedPositions } from '../../src/bytes/sort-positions.js'

it('positions come as their values are sorted, equal ones as they are', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(5)), fc.boolean(), (values, isSorted) => {
      const list = isSorted ? values.toSorted((a, b) => a - b) : values
      const expected = [...list.keys()].sort((a, b) => list[a]! - list[b]!)
      expect([...sortedPositions(list.length, (a, b) => list[a]! - list[b]!)]).toEqual(expected)
    }),
  )
})
