import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bandsOf,
  cellAt,
  clampView,
  fitView,
  levelFor,
  overviewLevel,
  tileKey,
  tileSize,
  tileSpan,
  visibleTiles,
  zoomAt,
} from '../../../viewer/src/engine/tiles/layout.js'

fc.configureGlobal({ seed: 28 })

const size = { width: 900, height: 600 }
const plane = fc.record({ rows: fc.integer({ min: 1, max: 50_000 }), columns: fc.integer({ min: 1, max: 50_000 }) })
const view = fc.record({
  x: fc.double({ min: 0, max: 50_000, noNaN: true }),
  y: fc.double({ min: 0, max: 50_000, noNaN: true }),
  zoom: fc.double({ min: -8, max: 6, noNaN: true }),
})

describe('tiles', () => {
  it('have cells of about a pixel', () => {
    expect([-8, -3, -1, -0.5, 0, 3].map(levelFor)).toEqual([8, 3, 1, 1, 0, 0])
    expect(overviewLevel({ rows: 1024, columns: 1024 })).toBe(0)
    expect(overviewLevel({ rows: 8192, columns: 8192 })).toBe(3)
    expect(overviewLevel({ rows: 1, columns: 3_000_000 })).toBe(2)
  })

  it('cover every value that is in view, and nothing beside the plane', () => {
    fc.assert(
      fc.property(plane, view, fc.integer({ min: 0, max: 3 }), (plane, given, level) => {
        const view = clampView(given, plane)
        const { firstRow, endRow, firstColumn, endColumn } = visibleTiles(view, size, plane, level)
        for (const [px, py] of [
          [0, 0],
          [899, 0],
          [450, 300],
          [899, 599],
        ] as const) {
          const cell = cellAt(view, size, plane, px, py)
          if (!cell) continue
          const span = tileSize * 2 ** level
          const [row, column] = [Math.floor(cell.row / span), Math.floor(cell.column / span)]
          expect(row >= firstRow && row < endRow && column >= firstColumn && column < endColumn).toBe(true)
        }
        if (endRow > firstRow) {
          const { rows } = tileSpan(level, endRow - 1, firstColumn, plane)
          expect(rows[0]).toBeLessThan(rows[1])
          expect(rows[1]).toBeLessThanOrEqual(plane.rows)
        }
      }),
    )
  })

  it('a vector is high enough to be pointed at', () => {
    const vector = { rows: 1, columns: 4096 }
    const fitted = fitView(vector, size)
    for (const py of [size.height / 2 - 20, size.height / 2 + 20])
      expect(cellAt(fitted, size, vector, 450, py)).toEqual({ row: 0, column: 2048 })
    expect(cellAt(fitted, size, vector, 450, 2)).toBeUndefined()
  })

  it('a plane of few columns is wide enough to be pointed at, and moves under the pointer only where it is zoomed', () => {
    const tall = { rows: 20_000, columns: 2 }
    const fitted = fitView(tall, size)
    expect(cellAt(fitted, size, tall, 450 - 20, 300)).toEqual({ row: 10_000, column: 0 })
    expect(cellAt(fitted, size, tall, 450 + 20, 300)).toEqual({ row: 10_000, column: 1 })
    const next = zoomAt(fitted, size, tall, 1, 470, 200)
    expect(cellAt(next, size, tall, 470, 200)).toEqual(cellAt(fitted, size, tall, 470, 200))
    expect(next.x).toBe(fitted.x)
  })

  it('have keys of their own', () => {
    const keys = [0, 1].flatMap((level) => [0, 1].flatMap((row) => [0, 1].map((at) => tileKey('p', level, row, at))))
    expect(new Set(keys).size).toBe(8)
  })
})

describe('bands', () => {
  it('hold each missing tile once, side by side, the middle first', () => {
    const range = { level: 0, firstRow: 0, endRow: 6, firstColumn: 0, endColumn: 9 }
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 54, maxLength: 54 }), (missing) => {
        const isMissing = (row: number, column: number): boolean => missing[row * 9 + column]!
        const seen = new Set<number>()
        const bands = bandsOf(range, isMissing, 2.5)
        for (const { row, firstColumn, endColumn } of bands) {
          for (let column = firstColumn; column < endColumn; column++) {
            expect(isMissing(row, column)).toBe(true)
            expect(seen.has(row * 9 + column)).toBe(false)
            seen.add(row * 9 + column)
          }
        }
        expect(seen.size).toBe(missing.filter(Boolean).length)
        const distances = bands.map(({ row }) => Math.abs(row - 2.5))
        expect(distances).toEqual(distances.toSorted((a, b) => a - b))
      }),
    )
  })

  it('are cut where one request would read too much', () => {
    const range = { level: 3, firstRow: 0, endRow: 1, firstColumn: 0, endColumn: 4 }
    expect(bandsOf(range, () => true, 0)).toHaveLength(4)
    expect(bandsOf({ ...range, level: 0 }, () => true, 0)).toHaveLength(1)
  })
})

describe('zooming', () => {
  it('keeps what lies under the pointer', () => {
    const inside = fc.record({ px: fc.integer({ min: 0, max: 899 }), py: fc.integer({ min: 0, max: 599 }) })
    fc.assert(
      fc.property(view, inside, fc.double({ min: -2, max: 2, noNaN: true }), (view, { px, py }, by) => {
        const next = zoomAt(view, size, { rows: 5000, columns: 5000 }, by, px, py)
        const place = ({ x, zoom }: typeof view): number => x + (px - 450) / 2 ** zoom
        expect(place(next)).toBeCloseTo(place(view), 4)
      }),
    )
  })

  it('fits all of a plane', () => {
    const fit = fitView({ rows: 3000, columns: 9000 }, size)
    expect(fit).toMatchObject({ x: 4500, y: 1500 })
    expect(2 ** fit.zoom * 9000).toBeCloseTo(900)
  })
})
