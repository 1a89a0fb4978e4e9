// Codes, scales and offsets must give the values that decoding gives.
import { describe, expect, it } from 'vitest'
import { dtypes, hasCodes, quantizeTensor, readCodes, readWindow, type Tensor } from '../../src/kit.js'
import { bytesPayload, readPayload } from '../../src/model/index.js'
import { noise } from '../support/numbers.js'
import { sampleTensor } from '../support/sample-model.js'

const types = [...dtypes.values()].filter(hasCodes).map(({ id }) => id)

const settled = async (tensor: Tensor): Promise<Tensor> => ({
  ...tensor,
  data: bytesPayload(await readPayload(tensor.data!)),
})

async function expectValues(tensor: Tensor, rows: [number, number], columns: [number, number]): Promise<void> {
  const inside = await readCodes(tensor, { rows, columns })
  const { data } = await readWindow(tensor, { rows, columns })
  expect(inside.codes.length).toBe(data.length)
  for (let row = 0; row < inside.rows; row++) {
    for (let column = 0; column < inside.columns; column++) {
      const block = Math.floor((columns[0] + column - inside.firstColumn) / inside.perScale)
      const at = row * inside.blocksPerRow + block
      const code = inside.codes[row * inside.columns + column]!
      const value = Math.fround(inside.scales[at]! * code + (inside.offsets?.[at] ?? 0))
      const wanted = data[row * inside.columns + column]!
      if (Number.isFinite(wanted)) expect(value + 0).toBe(wanted + 0)
    }
  }
}

describe('readCodes', () => {
  it('knows the types whose values are multiples of a scale', () => {
    expect(types).toMatchInlineSnapshot(`
      [
        "mcf.int8",
        "mcf.int4",
        "mcf.q8",
        "mcf.q4",
        "mcf.k6",
        "mcf.k4",
        "mcf.k3",
        "mcf.k2",
        "ggml.q4_0",
        "ggml.q4_1",
        "ggml.q5_0",
        "ggml.q5_1",
        "ggml.q8_0",
        "ggml.q2_k",
        "ggml.q3_k",
        "ggml.q4_k",
        "ggml.q5_k",
        "ggml.q6_k",
        "ggml.q8_k",
      ]
    `)
  })

  it.each(types)('%s: scale · code + offset is the value', async (id) => {
    const shape = [6, 512]
    const floats: Tensor = {
      ...sampleTensor('w', 'f32', shape),
      data: bytesPayload(new Uint8Array(noise(3, 6 * 512).buffer)),
    }
    const encodes = dtypes.get(id)!.regions ?? dtypes.get(id)!.codec?.fromF32
    const tensor = encodes ? await settled(quantizeTensor(floats, id)) : sampleTensor('w', id, shape)
    await expectValues(tensor, [0, 6], [0, 512])
    await expectValues(tensor, [1, 5], [37, 301])
    await expectValues(sampleTensor('w', id, shape, 5), [2, 3], [511, 512])
  })

  it('counts with the zero point of activations', async () => {
    const floats = { ...sampleTensor('w', 'f32', [4, 9]), data: bytesPayload(new Uint8Array(noise(3, 36).buffer)) }
    const tensor = await settled(quantizeTensor(floats, 'mcf.int8', { domain: 'activations' }))
    const { codes, scales, offsets } = await readCodes(tensor)
    const { data } = await readWindow(tensor)
    for (const [i, value] of data.entries()) expect(scales[0]! * codes[i]! + offsets![0]!).toBeCloseTo(value, 5)
  })

  it('refuses types without such codes', async () => {
    await expect(readCodes(sampleTensor('w', 'f32', [2, 2]))).rejects.toMatchObject({ code: 'usage/option' })
    await expect(readCodes(sampleTensor('w', 'ggml.iq2_xs', [2, 256]))).rejects.toMatchObject({ code: 'usage/option' })
  })
})
