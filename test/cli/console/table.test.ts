import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatTable } from '../../../src/cli/console/table.js'
import { widthOf } from '../../../src/cli/console/width.js'

const columns = [{ title: 'name' }, { title: 'size', align: 'right' as const }, { title: 'note' }]

test('columns are as wide as their widest cell', () => {
  const rows = [
    ['a', '1 B', ''],
    ['longer 🦙', '1000 B', 'x'],
  ]
  expect([...formatTable(columns, rows, { head: (text) => text })]).toEqual([
    '  name         size  note',
    '  a             1 B',
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

describe('in a terminal', () => {
  const names = [
    { title: 'name', cut: 'middle' as const },
    { title: 'type', spare: 2 },
    { title: 'size', align: 'right' as const },
    { title: 'note', cut: 'end' as const, spare: 1 },
  ]
  const rows = [
    ['model.layers.0.self_attn.q_proj.weight', 'bf16', '1.00 MiB', 'in another file'],
    ['模型.层.注意力.权重', 'f32', '12 B', ''],
  ]
  const at = (width: number): string[] => [...formatTable(names, rows, { head: (text) => text, width })]

  test('everything is shown where there is room', () => {
    expect(at(200)[1]).toBe('  model.layers.0.self_attn.q_proj.weight  bf16  1.00 MiB  in another file')
  })

  test('names are cut in the middle, then columns are left out', () => {
    expect(at(72)).toEqual([
      '  name                                   type      size  note',
      '  model.layers….self_attn.q_proj.weight  bf16  1.00 MiB  in another file',
      '  模型.层.注意力.权重                    f32       12 B',
    ])
    expect(at(48)).toEqual([
      '  name                                      size',
      '  model.layers…self_attn.q_proj.weight  1.00 MiB',
      '  模型.层.注意力.权重                       12 B',
    ])
    expect(at(30)).toEqual([
      '  name                    size',
      '  model.…proj.weight  1.00 MiB',
      '  模型.…注意力.权重       12 B',
    ])
  })

  test('no row is wider than the terminal', () => {
    for (let width = 24; width < 100; width++)
      for (const line of at(width)) expect(widthOf(line)).toBeLessThanOrEqual(width)
  })
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
