import fc from 'fast-check'
import { expect, it } from 'vitest'
import { planBatches, type Row } from '../../src/embed/batches.js'

const rowsOf = (lengths: readonly number[]): Row[] =>
  lengths.map((length, index) => ({ index, ids: new Array<number>(length).fill(index + 1) }))

const sizesOf = (lengths: readonly number[], batchSize: number): number[][] =>
  [...planBatches(rowsOf(lengths), batchSize, 0, () => true)].map(({ batch }) => [batch.count, batch.length])

it('takes full batches of short rows, and fewer of long ones', () => {
  expect(sizesOf(new Array<number>(5).fill(8), 4)).toEqual([
    [4, 8],
    [1, 8],
  ])
  expect(sizesOf(new Array<number>(4).fill(32), 4)).toEqual([[4, 32]])
  expect(sizesOf([64, 64, 64], 4)).toEqual([
    [2, 64],
    [1, 64],
  ])
  expect(sizesOf([500, 3, 500], 4)).toEqual([
    [1, 3],
    [1, 500],
    [1, 500],
  ])
})

it('has every row once, with its ids', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 40 })
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 20 }), (each, batchSize) => {
      const rows = rowsOf(each)
      const seen: number[] = []
      for (const { rows: members, batch } of planBatches(rows, batchSize, 0, () => true)) {
        expect(batch.count).toBe(members.length)
        expect(batch.count).toBeLessThanOrEqual(batchSize)
        for (const [i, { index, ids }] of members.entries()) {
          seen.push(index)
          const row = batch.ids.subarray(i * batch.length, (i + 1) * batch.length)
          expect(Array.from(row.subarray(0, ids.length), Number)).toEqual(ids)
          expect(row.subarray(ids.length).every((id) => id === 0n)).toBe(true)
        }
      }
      expect(seen.toSorted((a, b) => a - b)).toEqual(rows.map(({ index }) => index))
    }),
  )
})
