// What the workers hand to the page is what `extract` writes, bit for bit.
import { describe, expect, it } from 'vitest'
import { castTensor, dtypeById, readPayload, type Tensor } from '../../../src/kit.js'
import { findOutliers } from '../../../viewer/src/engine/rooms/tensor/outliers.js'
import { type Plane, type TileNumbers, tileHandlers } from '../../../viewer/src/engine/rooms/tensor/tiles.js'
import type { CallContext } from '../../../viewer/src/engine/serve.js'
import { tileSize } from '../../../viewer/src/engine/tiles/layout.js'
import { sampleTensor } from '../../support/sample-model.js'

const context: CallContext = { signal: new AbortController().signal, progress() {}, move() {} }

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
      const place = { plane, layer: 'values', level: 0, row: 1, firstColumn: 1, endColumn: 3 }
      const tiles = await ask<readonly TileNumbers[]>(tensor, 'tiles', place)
      expect(tiles).toHaveLength(2)
      for (const [i, tile] of tiles.entries()) {
        expect([tile.rows, tile.columns]).toEqual([rows - tileSize, tileSize])
        const wanted = new Float32Array(tile.rows * tile.columns)
        for (let row = 0; row < tile.rows; row++) {
          const from = (tileSize + row) * columns + (1 + i) * tileSize
          bits(wanted).set(bits(values).subarray(from, from + tileSize), row * tileSize)
        }
        expect(bits(tile.mean)).toEqual(bits(wanted))
      }
    })
  }

  it('are made of codes and scales as values are', async () => {
    const tensor = sampleTensor('w', 'ggml.q8_0', [40, 64], 3)
    const plane: Plane = { rows: 40, columns: 64 }
    const place = { plane, level: 0, row: 0, firstColumn: 0, endColumn: 1 }
    const layer = async (layer: string): Promise<Float32Array> =>
      (await ask<readonly TileNumbers[]>(tensor, 'tiles', { ...place, layer }))[0]!.mean
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
    const overview = await ask<TileNumbers>(tensor, 'overview', { plane, ...size })
    const finite = values.filter(Number.isFinite)
    expect([overview.min[0], overview.max[0]]).toEqual([Math.min(...finite), Math.max(...finite)])
  }
})

it('outliers are the largest values, largest first, and where they are', async () => {
  const tensor = sampleTensor('w', 'i8', [30, 70], 4)
  const values = await valuesOf(tensor)
  const found = await findOutliers(tensor, { rows: 30, columns: 70 }, 25, context)
  const sizes = [...values].map(Math.abs).sort((a, b) => b - a)
  expect(found.map(({ value }) => Math.abs(value))).toEqual(sizes.slice(0, 25))
  for (const { row, column, value } of found) expect(values[row * 70 + column]).toBe(value)
})
