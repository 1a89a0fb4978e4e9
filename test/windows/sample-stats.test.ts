import { describe, expect, it } from 'vitest'
import { bytesPayload, dtypeById, quantileShares, sampleStats, type Tensor, tensorStats } from '../../src/kit.js'
import { noise } from '../support/numbers.js'
import { sampleTensor } from '../support/sample-model.js'

const floats = (shape: readonly number[], values: Float32Array): Tensor => ({
  name: 'w',
  dtype: dtypeById('f32')!,
  shape,
  order: 'row',
  role: 'weight',
  data: bytesPayload(new Uint8Array(values.buffer)),
})

describe('sampleStats', () => {
  it('are the statistics of a small tensor', async () => {
    const values = noise(4, 4000)
    values.set([NaN, Infinity, -Infinity, 0, -0], 7)
    const tensor = floats([40, 100], values)
    const sample = await sampleStats(tensor, { bins: 10 })
    const all = await tensorStats(tensor, { bins: 10 })
    if (all.reason !== undefined) throw new Error(all.reason)
    const { min, max, mean, std, zero, nan } = all
    expect(sample).toMatchObject({
      isSample: false,
      count: 4000,
      total: 4000,
      min,
      max,
      mean,
      std,
      zero,
      nan,
      infinite: 2,
    })
    expect(sample.histogram).toEqual(all.histogram.map(({ count }) => count))
    expect(sample.quantiles).toHaveLength(quantileShares.length)
    expect(sample.quantiles).toEqual(sample.quantiles.toSorted((a, b) => a - b))
  })

  it('are close for a large one, the same each time, and marked', async () => {
    const tensor = floats([4000, 300], noise(9, 1_200_000))
    const sample = await sampleStats(tensor, { values: 40_000, bands: 16 })
    expect(sample).toEqual(await sampleStats(tensor, { values: 40_000, bands: 16 }))
    expect(sample.isSample).toBe(true)
    expect(sample.count).toBe(16 * 8 * 300)
    expect(sample.std).toBeCloseTo(1 / Math.sqrt(3), 1)
    expect(sample.quantiles[4]).toBeCloseTo(0, 1)
  })

  it('take rows longer than a band, blocks, vectors and nothing', async () => {
    const long = await sampleStats(sampleTensor('w', 'i8', [3, 10_000]), { values: 999, bands: 8 })
    expect(long).toMatchObject({ isSample: true, count: 992 })
    expect(await sampleStats(sampleTensor('w', 'ggml.q4_k', [64, 512]), { values: 4096 })).toMatchObject({
      count: 4096,
    })
    expect(await sampleStats(sampleTensor('w', 'i8', [7]))).toMatchObject({ isSample: false, count: 7 })
    expect(await sampleStats(sampleTensor('w', 'i8', [0, 4]))).toMatchObject({ count: 0, mean: null, histogram: [] })
  })

  it('are spread over a long vector', async () => {
    const ramp = Float32Array.from({ length: 100_000 }, (_, i) => i)
    const { min, max, mean } = await sampleStats(floats([100_000], ramp), { values: 3200 })
    expect(min).toBeLessThan(2000)
    expect(max).toBeGreaterThan(98_000)
    expect(mean).toBeCloseTo(49_999.5, -1)
  })

  it('refuse what cannot be decoded or counted', async () => {
    await expect(sampleStats(sampleTensor('w', 'c64', [2, 2]))).rejects.toMatchObject({ code: 'usage/no-codec' })
    await expect(sampleStats(sampleTensor('w', 'i8', [2, 2]), { bins: 0 })).rejects.toMatchObject({
      code: 'usage/option',
    })
  })
})
