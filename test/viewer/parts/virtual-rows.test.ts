import fc from 'fast-check'
import { expect, it } from 'vitest'
import { maxHeight, scrollToRow, visibleRows } from '../../../viewer/src/parts/virtual-rows.js'

fc.configureGlobal({ seed: 28 })

const geometry = (count: number) => ({ count, rowHeight: 30, viewHeight: 605 })

it('renders the rows that are in view and a few more', () => {
  const { first, end, top, height } = visibleRows(geometry(1000), 3000)
  expect([first, end, top, height]).toEqual([92, 129, 92 * 30, 30_000])
  expect(visibleRows(geometry(3), 0)).toEqual({ first: 0, end: 3, top: 0, height: 90 })
  expect(visibleRows(geometry(0), 0)).toMatchObject({ first: 0, end: 0, height: 0 })
})

it('reaches every row of a million within the height that browsers have', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 0, max: maxHeight - 605 }), (row, from) => {
      const at = scrollToRow(geometry(1_000_000), from, row)
      const { first, end, top, height } = visibleRows(geometry(1_000_000), at)
      expect(height).toBe(maxHeight)
      expect(row >= first && row < end).toBe(true)
      const y = top + (row - first) * 30 - at
      expect(y).toBeGreaterThan(-0.01)
      expect(y + 30).toBeLessThan(605.01)
    }),
  )
  const last = visibleRows(geometry(1_000_000), maxHeight - 605)
  expect(last.end).toBe(1_000_000)
})

it('does not move where the row is in view already', () => {
  expect(scrollToRow(geometry(1000), 3000, 105)).toBe(3000)
})
