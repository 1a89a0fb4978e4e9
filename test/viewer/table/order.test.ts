import { describe, expect, it } from 'vitest'
import type { Model } from '../../../src/kit.js'
import { naturalOrder } from '../../../viewer/src/engine/rooms/table/name-order.js'
import { type SortKey, sorted } from '../../../viewer/src/engine/rooms/table/order.js'
import { buildTree, treeRows } from '../../../viewer/src/engine/rooms/table/tree.js'
import { sampleTensor } from '../../support/sample-model.js'

const modelOf = (...tensors: Model['tensors']): Model => ({
  format: 'x',
  metadata: new Map(),
  tensors,
  parts: [],
  files: [],
})

const model = modelOf(
  sampleTensor('blk.10.b', 'f32', [8]),
  sampleTensor('blk.2.a', 'f16', [64]),
  sampleTensor('blk.2.b', 'f32', [2]),
  sampleTensor('output', 'f16', [4]),
)
const all = Uint32Array.of(0, 1, 2, 3)
const order = (by: SortKey, isDescending = false): number[] => [
  ...sorted(model, all, { by, isDescending }, (i) => (i === 3 ? undefined : ({ count: 1, std: i, zero: 0 } as never))),
]

describe('sorting', () => {
  it('is by numbers in names as people count', () => {
    expect(['a10', 'a9', 'a', 'b1', 'a9.x'].sort(naturalOrder)).toEqual(['a', 'a9', 'a9.x', 'a10', 'b1'])
    expect(order('name')).toEqual([1, 2, 0, 3])
    expect(order('name', true)).toEqual([3, 0, 2, 1])
  })

  it('keeps the order of the file among equals, either way', () => {
    expect(order('type')).toEqual([1, 3, 0, 2])
    expect(order('type', true)).toEqual([0, 2, 1, 3])
    expect(order('file', true)).toEqual([3, 2, 1, 0])
    expect(order('size', true)).toEqual([1, 0, 2, 3])
  })

  it('puts what has no figure last, either way', () => {
    expect(order('std')).toEqual([0, 1, 2, 3])
    expect(order('std', true)).toEqual([2, 1, 0, 3])
  })
})

describe('the tree', () => {
  it('has rows for what is open only, and joins groups of one', () => {
    const tree = buildTree(model, all)
    const labels = (toggled: readonly string[]): string[] =>
      treeRows(tree, new Set(toggled), false).map(({ label, depth }) => '  '.repeat(depth) + label)
    expect(labels([])).toEqual(['blk', '  2', '  10', 'output'])
    expect(labels(['blk.2'])).toEqual(['blk', '  2', '    a', '    b', '  10', 'output'])
    expect(labels(['blk'])).toEqual(['blk', 'output'])
    const deep = buildTree(
      modelOf(sampleTensor('a.b.c.x', 'f32', [2]), sampleTensor('a.b.c.y', 'f32', [3])),
      all.subarray(0, 2),
    )
    expect(treeRows(deep, new Set(), false)[0]).toMatchObject({ label: 'a.b.c', tensors: 2, bytes: 20 })
  })
})
