import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareUtf8 } from '../../src/bytes/index.js'
import { sortedByName } from '../../src/model/sorted-tensors.js'
import { sampleTensor } from '../support/sample-model.js'

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}', '\uffff'), maxLength: 4 }),
)

it('tensors are sorted by rank and name, as an array would be', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.nat(2)), { maxLength: 40 }), (list) => {
      const tensors = list.map(([text, rank]) => sampleTensor(text, 'f32', [rank]))
      const rankOf = ({ shape }: { shape: readonly number[] }): number => -shape[0]!
      const wanted = tensors.toSorted((a, b) => rankOf(a) - rankOf(b) || compareUtf8(a.name, b.name))
      expect([...sortedByName(tensors, rankOf)]).toEqual(wanted)
      expect([...sortedByName(tensors)].map((each) => each.name)).toEqual(list.map(([text]) => text).sort(compareUtf8))
    }),
  )
})

it('a list that is in order stays the list', () => {
  const tensors = ['a', 'b', 'b', 'c'].map((each) => sampleTensor(each, 'f32', [1]))
  expect(sortedByName(tensors)).toBe(tensors)
})
