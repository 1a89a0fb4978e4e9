import { describe, expect, it } from 'vitest'
import { buildTree, treeRows } from '../../../viewer/src/engine/rooms/table/tree.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

/** One line a row, indented by its depth; groups end in a colon. */
function drawn(names: readonly string[]): string[] {
  const model = sampleModel(names.map((name) => sampleTensor(name, 'f32', [2])))
  const root = buildTree(model, Uint32Array.from(names.keys()))
  return treeRows(root, new Set(), true).map(
    ({ depth, label, index }) => `${' '.repeat(depth)}${label}${index === undefined ? ':' : ''}`,
  )
}

describe('the tree of names', () => {
  it('groups by dots, and shows groups of one as one', () => {
    expect(drawn(['a.b.c', 'a.b.d', 'e.f.g'])).toEqual(['a.b:', ' c', ' d', 'e.f:', ' g'])
  })

  it('shows slashes as what they are, and keeps them apart from dots', () => {
    expect(drawn(['model/dense/kernel:0', 'model/dense/bias:0'])).toEqual(['model/dense:', ' kernel:0', ' bias:0'])
    expect(drawn(['/layer.1/w', '/layer.1/b'])).toEqual(['/layer.1:', ' w', ' b'])
    expect(drawn(['a/b/x', 'a.b/x'])).toEqual(['a:', ' b:', '  x', ' b:', '  x'])
  })

  it('loses nothing of names that are odd', () => {
    expect(drawn(['', '.', 'a.', 'a..b'])).toEqual(['a:', ' .:', '  b', ' .', '', '.'])
    expect(drawn(['/'])).toEqual(['/'])
  })
})
