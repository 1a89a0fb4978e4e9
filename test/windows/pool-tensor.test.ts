import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columnMajor, poolTensor, poolTensorSizes, previewTensor, readWindow, type Tensor } from '../../src/kit.js'
import { sampleTensor } from '../support/sample-model.js'

fc.configureGlobal({ seed: 13 })

/** Cell by cell, from the window. */
async function expectCells(tensor: Tensor, width: number, height: number): Promise<void> {
  const pooled = await poolTensor(tensor, width, height)
  const { data } = await readWindow({ ...tensor, shape: [pooled.height, pooled.width] })
  const edge = (i: number, count: number, length: number): number => Math.floor((i * length) / count)
  for (let row = 0; row < pooled.rows; row++) {
    for (let column = 0; column < pooled.columns; column++) {
      const values: number[] = []
      for (let r = edge(row, pooled.rows, pooled.height); r < edge(row + 1, pooled.rows, pooled.height); r++)
        for (
          let c = edge(column, pooled.columns, pooled.width);
          c < edge(column + 1, pooled.columns, pooled.width);
          c++
        )
          values.push(data[r * pooled.width + c]!)
      const finite = values.filter(Number.isFinite)
      const at = row * pooled.columns + column
      expect(pooled.count[at]).toBe(finite.length)
      if (finite.length === 0) continue
      expect(pooled.min[at]).toBe(Math.min(...finite))
      expect(pooled.max[at]).toBe(Math.max(...finite))
      const mean = finite.reduce((sum, x) => sum + x, 0) / finite.length
      const rms = Math.sqrt(finite.reduce((sum, x) => sum + x * x, 0) / finite.length)
      expect(Math.abs(pooled.mean[at]! - mean)).toBeLessThanOrEqual(1e-9 * Math.max(rms, 1e-300))
      expect(Math.abs(pooled.rms[at]! - rms)).toBeLessThanOrEqual(1e-9 * rms)
    }
  }
}

describe('poolTensor', () => {
  it('covers every value once', async () => {
    const cases = fc.record({
      id: fc.constantFrom('f16', 'i8', 'u4', 'ggml.q8_0'),
      rows: fc.integer({ min: 1, max: 40 }),
      columns: fc.integer({ min: 1, max: 3 }),
      isColumn: fc.boolean(),
      width: fc.integer({ min: 1, max: 20 }),
      height: fc.integer({ min: 1, max: 50 }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ id, rows, columns, isColumn, width, height }) => {
        const tensor = sampleTensor('w', id, [rows, columns * 32], rows)
        await expectCells(isColumn && ['f16', 'i8'].includes(id) ? columnMajor(tensor) : tensor, width, height)
      }),
      { numRuns: 60 },
    )
  })

  it('makes several overviews in one pass', async () => {
    for (const tensor of [sampleTensor('w', 'f16', [37, 64]), columnMajor(sampleTensor('w', 'f16', [37, 64]))]) {
      const sizes = [
        [8, 9],
        [1, 37],
        [64, 1],
      ] as const
      const several = await poolTensorSizes(tensor, sizes)
      expect(several).toEqual(await Promise.all(sizes.map(([width, height]) => poolTensor(tensor, width, height))))
      expect(several.map(({ rows, columns }) => [columns, rows])).toEqual(sizes.map((size) => [...size]))
    }
  })

  it('takes rows that are longer than a chunk', async () => {
    const tensor = sampleTensor('w', 'i8', [3, 600_001])
    const pooled = await poolTensor(tensor, 7, 3)
    expect(pooled.count.reduce((sum, count) => sum + count)).toBe(3 * 600_001)
    const { data } = await readWindow(tensor)
    expect(Math.max(...pooled.max)).toBe(data.reduce((max, x) => Math.max(max, x)))
  })

  it('flattens higher ranks to rows, and a vector is one row', async () => {
    expect(await poolTensor(sampleTensor('w', 'i8', [2, 3, 8]), 100, 100)).toMatchObject({ rows: 6, columns: 8 })
    expect(await poolTensor(sampleTensor('w', 'i8', [50]), 10, 10)).toMatchObject({ rows: 1, columns: 10 })
    const turned = columnMajor(sampleTensor('w', 'i8', [2, 3, 8]))
    expect(await poolTensor(turned, 8, 6)).toEqual(await poolTensor(sampleTensor('w', 'i8', [2, 3, 8]), 8, 6))
  })

  it('reports progress, stops when asked, and takes empty tensors', async () => {
    const seen: number[] = []
    await poolTensor(sampleTensor('w', 'i8', [4, 8]), 2, 2, { onProgress: ({ done }) => seen.push(done) })
    expect(seen.at(-1)).toBe(32)
    const signal = AbortSignal.abort()
    await expect(poolTensor(sampleTensor('w', 'i8', [4, 8]), 2, 2, { signal })).rejects.toMatchObject({
      code: 'io/aborted',
    })
    expect(await poolTensor(sampleTensor('w', 'i8', [0, 8]), 2, 2)).toMatchObject({ rows: 0, columns: 0 })
    await expect(poolTensor(sampleTensor('w', 'i8', [4, 8]), 0, 2)).rejects.toMatchObject({ code: 'usage/option' })
  })
})

describe('previewTensor', () => {
  it('reads some rows of a large tensor and says so', async () => {
    const tensor = sampleTensor('w', 'i8', [4000, 64])
    const preview = await previewTensor(tensor, 16, 100, { values: 32 * 2 * 64 })
    expect(preview).toMatchObject({ rows: 32, columns: 16, isSample: true })
    expect(preview.count.every((count) => count === 8)).toBe(true)
  })

  it('sees every column of long rows', async () => {
    const preview = await previewTensor(sampleTensor('w', 'i8', [9, 5000]), 20, 9, { values: 12_000 })
    expect(preview).toMatchObject({ rows: 2, columns: 20, isSample: true })
    expect(preview.count.every((count) => count === 250)).toBe(true)
  })

  it('is complete for a small one', async () => {
    const tensor = sampleTensor('w', 'i8', [20, 64])
    expect(await previewTensor(tensor, 16, 20)).toEqual(await poolTensor(tensor, 16, 20))
  })
})
