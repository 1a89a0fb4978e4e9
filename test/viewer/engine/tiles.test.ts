// What the workers hand to the page is what `extract` writes, bit for bit.
import { describe, expect, it } from 'vitest'
import { castTensor, dtypeById, readPayload, type Tensor } from '../../../src/kit.js'
import { joinOverviews, overviewParts } from '../../../viewer/src/engine/overview-parts.js'
import { findOutliers } from '../../../viewer/src/engine/rooms/tensor/outliers.js'
import { type Overview, type Plane, type Tile, tileHandlers } from '../../../viewer/src/engine/rooms/tensor/tiles.js'
import type { CallContext } from '../../../viewer/src/engine/serve.js'
import { tileSize } from '../../../viewer/src/engine/tiles/layout.js'
import { sampleTensor } from '../../support/sample-model.js'

const context: CallContext = { signal: new AbortController().signal, progress() {}, move() {}, async turn() {} }

const ask = <T>(tensor: Tensor, name: string, question: object): Promise<T> =>
  tileHandlers(async () => tensor)[name]!(question, context) as Promise<T>

async function valuesOf(tensor: Tensor): Promise<Float32Array> {
  const bytes = await readPayload(castTensor(tensor, dtypeById('f32')!).data!)
  return new Float32Array(bytes.buffer)
}

const bits = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer, values.byteOffset, values.length)

describe('tiles', () => {
  for (const id of ['f32', 'bf16', 'ggml.q4_k', 'ggml.q8_0'] as const) {
    it(`of ${id} on level 0 are the values`, async () => {
      const [rows, columns] = [300, 768]
      const tensor = sampleTensor('w', id, [rows, columns], 3)
      const values = await valuesOf(tensor)
      const plane: Plane = { rows, columns }
      const place = { plane, layer: 'values', level: 0, figure: 'mean', row: 1, firstColumn: 1, endColumn: 3 }
      const tiles = await ask<readonly Tile[]>(tensor, 'tiles', place)
      expect(tiles).toHaveLength(2)
      for (const [i, tile] of tiles.entries()) {
        expect([tile.rows, tile.columns]).toEqual([rows - tileSize, tileSize])
        const wanted = new Float32Array(tile.rows * tile.columns)
        for (let row = 0; row < tile.rows; row++) {
          const from = (tileSize + row) * columns + (1 + i) * tileSize
          bits(wanted).set(bits(values).subarray(from, from + tileSize), row * tileSize)
        }
        expect(bits(tile.numbers)).toEqual(bits(wanted))
      }
    })
  }

  it('are made of codes and scales as values are', async () => {
    const tensor = sampleTensor('w', 'ggml.q8_0', [40, 64], 3)
    const plane: Plane = { rows: 40, columns: 64 }
    const place = { plane, level: 0, figure: 'mean', row: 0, firstColumn: 0, endColumn: 1 }
    const layer = async (layer: string): Promise<Float32Array> =>
      (await ask<readonly Tile[]>(tensor, 'tiles', { ...place, layer }))[0]!.numbers
    const [values, codes, scales] = [await layer('values'), await layer('codes'), await layer('scales')]
    expect(values).toEqual(scales.map((scale, i) => scale * codes[i]!))
    const cell = await ask(tensor, 'cell', { plane, row: 7, column: 33 })
    expect(cell).toEqual({ value: values[7 * 64 + 33], code: codes[7 * 64 + 33], scale: scales[7 * 64 + 33] })
  })
})

it('an overview of one plane of several is that of the plane alone, streamed or by windows', async () => {
  const tensor = sampleTensor('w', 'f16', [3, 24, 40], 2)
  const values = (await valuesOf(tensor)).subarray(24 * 40, 2 * 24 * 40)
  const size = { width: 1, height: 1, isQuick: false }
  for (const plane of [
    { rows: 24, columns: 40, axes: [1, 2], fixed: [1] },
    { rows: 40, columns: 24, axes: [2, 1], fixed: [1] },
  ]) {
    const overview = await ask<Overview>(tensor, 'overview', { plane, ...size })
    const finite = values.filter(Number.isFinite)
    expect([overview.min[0], overview.max[0]]).toEqual([Math.min(...finite), Math.max(...finite)])
  }
})

it('an overview in parts is the same as in one', async () => {
  const [rows, columns] = [48, 256]
  const plane: Plane = { rows, columns }
  for (const id of ['f32', 'ggml.q4_k'] as const) {
    const tensor = sampleTensor('w', id, [rows, columns], 3)
    const of = (size: object): Promise<Overview> =>
      ask(tensor, 'overview', { plane, width: 64, isQuick: false, ...size })
    const whole = await of({ height: 12 })
    const parts = overviewParts(rows, 12, 5)
    expect(parts).toHaveLength(5)
    const joined = joinOverviews(await Promise.all(parts.map(of)))
    for (const figure of ['min', 'max', 'mean', 'rms'] as const) {
      expect(bits(joined[figure])).toEqual(bits(whole[figure]))
      const { min, max, count, mean, std } = joined.moments[figure]
      const wanted = whole.moments[figure]
      expect([min, max, count]).toEqual([wanted.min, wanted.max, wanted.count])
      expect(mean / wanted.std).toBeCloseTo(wanted.mean / wanted.std, 9)
      expect(std / wanted.std).toBeCloseTo(1, 9)
    }
    expect(joined.norms!.rows).toEqual(whole.norms!.rows)
    for (const [i, norm] of joined.norms!.columns.entries()) expect(norm / whole.norms!.columns[i]!).toBeCloseTo(1, 5)
  }
})

it('an overview is cut only where cells begin with whole rows', () => {
  expect(overviewParts(8192, 1024, 2)).toEqual([
    { rows: [0, 4096], height: 512 },
    { rows: [4096, 8192], height: 512 },
  ])
  expect(overviewParts(50_257, 1000, 4)).toEqual([{ rows: [0, 50_257], height: 1000 }])
  expect(overviewParts(30, 20, 4)).toEqual([
    { rows: [0, 9], height: 6 },
    { rows: [9, 15], height: 4 },
    { rows: [15, 24], height: 6 },
    { rows: [24, 30], height: 4 },
  ])
})

it('outliers are the largest values, largest first, and where they are', async () => {
  const tensor = sampleTensor('w', 'i8', [30, 70], 4)
  const values = await valuesOf(tensor)
  const found = await findOutliers(tensor, { rows: 30, columns: 70 }, 25, context)
  const sizes = [...values].map(Math.abs).sort((a, b) => b - a)
  expect(found.map(({ value }) => Math.abs(value))).toEqual(sizes.slice(0, 25))
  for (const { row, column, value } of found) expect(values[row * 70 + column]).toBe(value)
})
