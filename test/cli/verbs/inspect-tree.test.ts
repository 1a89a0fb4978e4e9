import { expect, test } from 'vitest'
import { treeRows } from '../../../src/cli/verbs/inspect/tree.js'
import type { InspectedTensor } from '../../../src/kit-node.js'

const tensor = (name: string, more: Partial<InspectedTensor> = {}): InspectedTensor => ({
  name,
  dtype: 'f32',
  shape: [2, 3],
  bytes: 24,
  offset: 0,
  order: 'row',
  ...more,
})

test('groups have subtotals, and chains of single groups share a row', () => {
  const rows = treeRows([
    tensor('model.layers.0.q'),
    tensor('model.layers.0.k'),
    tensor('model.layers.1.q'),
    tensor('head'),
  ])
  expect(rows.map(([name, what, , , size]) => [name, what, size])).toEqual([
    ['head', 'f32', '24 B'],
    ['model.layers', '3 tensors', '72 B'],
    ['  0', '2 tensors', '48 B'],
    ['    q', 'f32', '24 B'],
    ['    k', 'f32', '24 B'],
    ['  1.q', 'f32', '24 B'],
    ['total', '4 tensors', '96 B'],
  ])
})

test('a path counts more than the dots in a name', () => {
  const rows = treeRows([
    tensor('a.b.w', { path: ['a.b', 'w'] }),
    tensor('a.b.w#m1', { path: ['a.b', 'w'], stat: 'm1', bytes: null }),
    tensor('', { path: [] }),
  ])
  expect(rows.map(([name]) => name)).toEqual(['', 'a.b', '  w', '  w#m1', 'total'])
})

test('a hostile name does not become as many levels as it has dots', () => {
  const rows = treeRows([tensor('x.'.repeat(50_000)), tensor('x.y')])
  expect(rows.length).toBeLessThan(10)
})
