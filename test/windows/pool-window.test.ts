import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { poolTensor, poolWindow, readWindow } from '../../src/kit.js'
import { sampleTensor } from '../support/sample-model.js'

fc.configureGlobal({ seed: 17 })

describe('poolWindow', () => {
  it('gives the cells of the window alone', async () => {
    const start = fc.integer({ min: 0, max: 30 })
    const length = fc.integer({ min: 1, max: 33 })
    const cases = fc.record({
      id: fc.constantFrom('f16', 'i8', 'ggml.q8_0'),
      start: fc.tuple(start, start),
      length: fc.tuple(length, length),
      width: fc.integer({ min: 1, max: 20 }),
      height: fc.integer({ min: 1, max: 20 }),
      isTurned: fc.boolean(),
      fixed: fc.integer({ min: 0, max: 1 }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ id, start, length, width, height, isTurned, fixed }) => {
        const tensor = sampleTensor('w', id, [2, 64, 64], 5)
        const view = {
          rows: [start[0], start[0] + length[0]],
          columns: [start[1], start[1] + length[1]],
          axes: isTurned ? ([2, 1] as const) : ([1, 2] as const),
          fixed: [fixed],
        } as const
        const pooled = await poolWindow(tensor, view, width, height)
        const { data, rows, columns } = await readWindow(tensor, view)
        expect([pooled.height, pooled.width]).toEqual([rows, columns])
        const edge = (i: number, count: number, size: number): number => Math.floor((i * size) / count)
        for (let cell = 0; cell < pooled.rows * pooled.columns; cell++) {
          const [r, c] = [Math.floor(cell / pooled.columns), cell % pooled.columns]
          const values: number[] = []
          for (let row = edge(r, pooled.rows, rows); row < edge(r + 1, pooled.rows, rows); row++)
            for (let column = edge(c, pooled.columns, columns); column < edge(c + 1, pooled.columns, columns); column++)
              values.push(data[row * columns + column]!)
          const finite = values.filter(Number.isFinite)
          expect(pooled.count[cell]).toBe(finite.length)
          if (finite.length === 0) continue
          expect(pooled.min[cell]).toBe(Math.min(...finite))
          expect(pooled.max[cell]).toBe(Math.max(...finite))
        }
      }),
      { numRuns: 40 },
    )
  })

  it('agrees with poolTensor over the whole, also where a row is longer than what is held at a time', async () => {
    const tensor = sampleTensor('w', 'i8', [2, 1_200_001])
    const whole = await poolTensor(tensor, 5, 2)
    const window = await poolWindow(tensor, {}, 5, 2)
    expect(window.count).toEqual(whole.count)
    expect(window.min).toEqual(whole.min)
    expect(window.max).toEqual(whole.max)
  })

  it('refuses a number of cells that cannot be', async () => {
    const tensor = sampleTensor('w', 'i8', [2, 3])
    await expect(poolWindow(tensor, {}, 0, 1)).rejects.toThrow('1 by 0 cells were requested')
    expect((await poolWindow(tensor, { rows: [1, 1] }, 4, 4)).rows).toBe(0)
  })
})
