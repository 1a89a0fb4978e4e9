import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatTable, shorten } from '../../../src/cli/console/table.js'

const columns = [{ title: 'name' }, { title: 'size', align: 'right' as const }, { title: 'note' }]

test('columns are as wide as their widest cell', () => {
  const rows = [
    ['a', '1 B', ''],
    ['longer 🦙', '1000 B', 'x'],
  ]
  expect([...formatTable(columns, rows, { head: (text) => text })]).toEqual([
    '  name        size  note',
    '  a            1 B',
    '  longer 🦙  1000 B  x',
  ])
})

test('a cell of a megabyte does not widen the rows around it', () => {
  const long = 'z'.repeat(1 << 20)
  const rows = [
    ['a', '1 B', 'x'],
    [long, '1 B', 'x'],
  ]
  expect([...formatTable(columns, rows)]).toEqual(['  a  1 B  x', `  ${long}  1 B  x`])
})

test('colour does not count as width', () => {
  const painted = [{ title: '', paint: (text: string) => `<${text}>` }, { title: '' }]
  const rows = [
    ['a', 'x'],
    ['bbb', 'y'],
  ]
  expect([...formatTable(painted, rows)]).toEqual(['  <a>    x', '  <bbb>  y'])
})

test('no rows, no table', () => {
  expect([...formatTable(columns, [], { head: (text) => text })]).toEqual([])
})

test('long text is cut between characters', () => {
  expect([shorten('abc', 3), shorten('abcd', 3), shorten('🦙🦙🦙🦙', 3)]).toEqual(['abc', 'ab…', '🦙🦙…'])
})

test('a table that is made while it is printed grows where it must', () => {
  const rows = { count: 3000, row: (i: number) => [i === 2500 ? 'much longer' : 'name', '1 B', ''] }
  const pieces = [...formatTable(columns, rows, { head: (text) => text })]
  const lines = pieces.join('\n').split('\n')
  expect(lines.length).toBe(3001)
  expect(pieces.length).toBeGreaterThan(1)
  expect([lines[0], lines[1], lines[2500]]).toEqual(['  name  size  note', '  name   1 B', '  name   1 B'])
  expect(lines.slice(2501, 2503)).toEqual(['  much longer   1 B', '  name          1 B'])
})

test('every cell is padded to the width of its column', () => {
  const cell = fc.constantFrom('', 'a', 'bb', 'dddd')
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1, maxLength: 12 }), (rows) => {
      const width = (i: number): number => Math.max(...rows.map((row) => row[i]!.length))
      const expected = rows.map(([a, b, c]) => `  ${a.padEnd(width(0))}  ${b.padStart(width(1))}  ${c}`.trimEnd())
      expect([...formatTable(columns, rows)]).toEqual(expected)
    }),
  )
})
