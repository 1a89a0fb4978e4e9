import { describe, expect, it } from 'vitest'
import { MemorySource } from '../../../src/bytes/index.js'
import { dtypeById, f32 } from '../../../src/dtypes/index.js'
import { rangePayload, readPayload, type Tensor } from '../../../src/model/index.js'
import { quantizeTensor } from '../../../src/transforms/quantize/quantize.js'

function tensorOf(shape: readonly number[]): { tensor: Tensor; values: Float32Array } {
  const count = shape.reduce((a, b) => a * b, 1)
  const values = Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7) * (1 + (i % 7)))
  const data = rangePayload(new MemorySource(new Uint8Array(values.buffer), 'w'), 0, values.byteLength)
  return { values, tensor: { name: 'w', dtype: f32, shape, order: 'row', role: 'weight', data } }
}

const importanceOf = (count: number): Float32Array =>
  Float32Array.from({ length: count }, (_, i) => 1 + Math.abs(Math.cos(i)) * 10)

describe('quantizing row by row', () => {
  it('gives every expert its own weights', async () => {
    const { tensor, values } = tensorOf([3, 2, 256])
    const importance = importanceOf(3 * 256)
    const bytes = await readPayload(quantizeTensor(tensor, 'iq2_xxs', { importance }).data!)
    const dtype = dtypeById('ggml.iq2_xxs')!
    const size = dtype.byteLength([256])!
    for (let row = 0; row < 6; row++) {
      const alone = new Uint8Array(size)
      const weights = importance.subarray(256 * Math.floor(row / 2), 256 * Math.floor(row / 2) + 256)
      dtype.codec!.rows!.encode(values.subarray(256 * row, 256 * row + 256), alone, { importance: weights })
      expect(bytes.subarray(row * size, (row + 1) * size)).toEqual(alone)
    }
  })

  it('takes one set of weights for all matrices', async () => {
    const { tensor } = tensorOf([3, 2, 256])
    const one = importanceOf(256)
    const three = Float32Array.from({ length: 768 }, (_, i) => one[i % 256]!)
    const [a, b] = [one, three].map((importance) => quantizeTensor(tensor, 'q4_k', { importance }).data!)
    expect(await readPayload(a!)).toEqual(await readPayload(b!))
  })

  it('gives the same bytes in windows and slices', async () => {
    const { tensor } = tensorOf([600, 96])
    const data = quantizeTensor(tensor, 'q4_0', { importance: importanceOf(96) }).data!
    const whole = await readPayload(data)
    const { unit, take } = data.slices!
    expect(unit).toBe(3 * 18)
    expect(await readPayload(take(unit * 7, unit * 5))).toEqual(whole.subarray(unit * 7, unit * 12))
    expect(await data.read!(unit * 7 + 5, 100)).toEqual(whole.slice(unit * 7 + 5, unit * 7 + 105))
  })

  it('is a plain cast without weights', async () => {
    const { tensor } = tensorOf([4, 256])
    const plain = await readPayload(quantizeTensor(tensor, 'q4_k').data!)
    const exact = await readPayload(quantizeTensor(tensor, 'q4_k', { mode: 'reference' }).data!)
    const weighted = await readPayload(quantizeTensor(tensor, 'q4_k', { importance: importanceOf(256) }).data!)
    expect(new Set([plain, exact, weighted].map((bytes) => bytes.join()))).toHaveProperty('size', 3)
  })

  it('refuses what cannot be', async () => {
    const { tensor, values } = tensorOf([4, 256])
    expect(() => quantizeTensor(tensor, 'iq1_s')).toThrow('ggml.iq1_s needs importance weights')
    expect(() => quantizeTensor(tensor, 'q4_k', { importance: importanceOf(255) })).toThrow(
      'there are 255 importance weights for this tensor, and [4, 256] takes 256',
    )
    values[700] = Number.NaN
    await expect(readPayload(quantizeTensor(tensor, 'q4_k', { mode: 'reference' }).data!)).rejects.toThrow(
      'element 700 is NaN, which ggml.q4_k cannot hold',
    )
  })
})
