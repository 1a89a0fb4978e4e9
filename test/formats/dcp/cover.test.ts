import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findFlaw } from '../../../src/formats/dcp/cover.js'
import type { Tile } from '../../../src/payloads/mosaic-payload.js'

const tile = (offsets: number[], sizes: number[]): Tile => ({ offsets, sizes })

describe('findFlaw', () => {
  it.each<[string, number[], Tile[], string | undefined]>([
    ['a scalar', [], [tile([], [])], undefined],
    ['an empty tensor', [0, 4], [], undefined],
    ['rows', [7, 5], [tile([4, 0], [3, 5]), tile([0, 0], [4, 5])], undefined],
    [
      'rows, then columns of each',
      [4, 4],
      [tile([0, 0], [2, 3]), tile([0, 3], [2, 1]), tile([2, 0], [2, 4])],
      undefined,
    ],
    ['no chunks', [2], [], 'chunk-hole'],
    ['a hole at the beginning', [4], [tile([1], [3])], 'chunk-hole'],
    ['a hole in the middle', [4], [tile([0], [1]), tile([2], [2])], 'chunk-hole'],
    ['a hole at the end', [4, 2], [tile([0, 0], [4, 1])], 'chunk-hole'],
    ['a missing corner', [2, 2], [tile([0, 0], [1, 2]), tile([1, 0], [1, 1])], 'chunk-hole'],
    ['the same chunk twice', [2], [tile([0], [2]), tile([0], [2])], 'chunk-overlap'],
    ['an overlap', [4], [tile([0], [3]), tile([2], [2])], 'chunk-overlap'],
    ['two scalars', [], [tile([], []), tile([], [])], 'chunk-overlap'],
  ])('%s', (_, shape, chunks, code) => {
    expect(findFlaw(shape, chunks)?.code).toBe(code)
  })

  it('finds out when a chunk is missing or there twice', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), fc.nat(), (rows, columns, pick) => {
        const grid = Array.from({ length: rows * columns }, (_, i) =>
          tile([Math.floor(i / columns) * 2, (i % columns) * 3], [2, 3]),
        )
        const shape = [rows * 2, columns * 3]
        const i = pick % grid.length
        expect(findFlaw(shape, grid)).toBeUndefined()
        expect(findFlaw(shape, grid.toSpliced(i, 1))?.code).toBe('chunk-hole')
        expect(findFlaw(shape, [...grid, grid[i]!])?.code).toBe('chunk-overlap')
      }),
    )
  })

  it('follows as many cuts inside each other as checkpoints have, and no more', () => {
    const spiral = (dim: number): Tile[] =>
      Array.from({ length: dim }, (_, k) => [
        tile([k, k], [1, dim - k]),
        ...(k + 1 < dim ? [tile([k + 1, k], [dim - k - 1, 1])] : []),
      ]).flat()
    expect(findFlaw([10, 10], spiral(10))).toBeUndefined()
    expect(findFlaw([40, 40], spiral(40))?.code).toBe('chunk-overlap')
  })
})
