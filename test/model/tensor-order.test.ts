import fc from 'fast-check'
import { expect, it } from 'vitest'
import { f32 } from '../../src/dtypes/index.js'
import type { Tensor } from '../../src/model/model.js'
import { byName } from '../../src/model/tensor-order.js'

const named = (name: string, rank: number): Tensor => ({
  ...{ name, dtype: f32, shape: [rank], order: 'row', role: 'weight', data: null },
})
const rankOf = ({ shape }: Tensor): number => shape[0]!

it('orders tensors by rank, then by the bytes of their names, and keeps equal ones in their order', () => {
  const tensors = fc.array(fc.tuple(fc.string({ maxLength: 2 }), fc.integer({ min: 0, max: 2 })))
  fc.assert(
    fc.property(tensors, (list) => {
      const given = list.map(([name, rank]) => named(name, rank))
      const expected = given.toSorted(
        (a, b) => rankOf(a) - rankOf(b) || Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
      )
      const ordered = byName(given, ({ name }) => name, rankOf)
      expect(ordered.every((tensor, i) => tensor === expected[i])).toBe(true)
    }),
  )
})

it('gives back the same list where it is in order', () => {
  const tensors = ['', 'a', 'a', 'b', '\uffee', '\u{10000}'].map((name) => named(name, 0))
  expect(byName(tensors)).toBe(tensors)
})
