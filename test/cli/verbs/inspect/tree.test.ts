import { expect, test } from 'vitest'
import { treeRows } from '../../../../src/cli/verbs/inspect/tree.js'
import { f32 } from '../../../../src/dtypes/index.js'
import { inspectTensor, type Tensor } from '../../../../src/kit-node.js'
import { bytesPayload } from '../../../../src/model/index.js'

const tensor = (name: string, more: Partial<Tensor> = {}): Tensor => ({
  ...{ name, dtype: f32, shape: [2, 3], order: 'row', role: 'weight', data: bytesPayload(new Uint8Array(24)) },
  ...more,
})

function rowsOf(tensors: readonly Tensor[]): string[][] {
  const { count, row } = treeRows(tensors, (one) => inspectTensor(one, ''))
  return Array.from({ length: count }, (_, i) => row(i) as string[])
}

test('groups have subtotals, and chains of single groups share a row', () => {
  const rows = rowsOf([
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

test('a tensor alone in its groups has their names, also below a group that has other tensors', () => {
  const rows = rowsOf([tensor('a.w'), tensor('a.b.c.d'), tensor('a.x.y.1'), tensor('a.x.y.2'), tensor('e.f.g')])
  expect(rows.map(([name]) => name)).toEqual(['a', '  w', '  b.c.d', '  x.y', '    1', '    2', 'e.f.g', 'total'])
})

test('a path counts more than the dots in a name', () => {
  const rows = rowsOf([
    tensor('a.b.w', { path: ['a.b', 'w'] }),
    tensor('a.b.w#m1', { path: ['a.b', 'w'], stat: 'm1', data: null }),
    tensor('', { path: [] }),
  ])
  expect(rows.map(([name]) => name)).toEqual(['', 'a.b', '  w', '  w#m1', 'total'])
})

test('a hostile name does not become as many levels as it has dots', () => {
  expect(rowsOf([tensor('x.'.repeat(50_000)), tensor('x.y')]).length).toBeLessThan(10)
})
