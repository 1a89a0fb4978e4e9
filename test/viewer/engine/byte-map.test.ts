import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { childrenOf, rowAt, sliceRows, stripOf } from '../../../viewer/src/engine/rooms/bytes/byte-map.js'

const row = (offset: number, length: number, path: string, kind: 'field' | 'data' | 'gap' = 'field') => ({
  offset,
  length,
  path,
  kind,
})
const rows = [
  row(0, 4, 'magic'),
  row(4, 8, 'tensors[0].name'),
  row(12, 4, 'tensors[0].type'),
  row(16, 8, 'tensors[1].name'),
  row(24, 76, 'data["a"]', 'data'),
]

describe('the map of a file', () => {
  it('finds the row of every byte', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 }), (lengths) => {
        let offset = 0
        const all = lengths.map((length, i) => {
          const each = row(offset, length, `f[${i}]`)
          offset += length
          return each
        })
        for (let byte = 0; byte < offset; byte++) {
          const found = all[rowAt(all, byte)]!
          expect(found.offset <= byte && byte < found.offset + found.length).toBe(true)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('gives the rows that a range touches', () => {
    expect(sliceRows(rows, [5, 13]).map(({ path }) => path)).toEqual(['tensors[0].name', 'tensors[0].type'])
    expect(sliceRows(rows, [0, 1]).map(({ path }) => path)).toEqual(['magic'])
  })

  it('has a tree: fields whose paths begin alike are one node', () => {
    const top = childrenOf(rows, '', 0)
    expect(top.map(({ label, fields, offset, length }) => [label, fields > 0, offset, length])).toEqual([
      ['magic', false, 0, 4],
      ['tensors', true, 4, 20],
      ['data', true, 24, 76],
    ])
    const below = childrenOf(rows, 'tensors', 1)
    expect(below.map(({ label }) => label)).toEqual(['[0]', '[1]'])
    expect(childrenOf(rows, 'tensors[0]', 2).map(({ label, fields }) => [label, fields])).toEqual([
      ['name', 0],
      ['type', 0],
    ])
  })

  it('shows most of the bytes in each piece of the strip', () => {
    expect([...stripOf(rows, 100, 4)]).toEqual([0, 1, 1, 1])
    expect([...stripOf([row(0, 10, '', 'gap')], 10, 2)]).toEqual([3, 3])
  })
})
