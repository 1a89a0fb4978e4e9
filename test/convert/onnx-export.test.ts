import { describe, expect, it } from 'vitest'
import { openModel, planConversion } from '../../src/kit.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixtureSource } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

describe('exporting an encoder as a graph', () => {
  it('keeps weights, vocabulary and properties, and opens again', async () => {
    const model = await openModel(fixtureSource('embd', 'stream-tiny-bert-1layer.bin'))
    const { plan } = await planConversion(model, 'onnx', { name: 'm.onnx', extra: { heads: 2 } })
    expect(plan.loss).toBe('form')
    const files = await convertToFiles(model, 'onnx', { name: 'm.onnx', extra: { heads: 2 } })
    const graph = await openModel(sourceOf(files))
    expect(graph.format).toBe('onnx')
    expect(graph.metadata.get('tare.vocabulary')).toMatchObject({ value: expect.stringContaining('[CLS]\n') })
    const parameters = (tensors: typeof model.tensors): number =>
      tensors
        .filter(({ dtype }) => dtype.id === 'f32')
        .reduce((sum, { shape }) => sum + shape.reduce((a, b) => a * b, 1), 0)
    expect(parameters(graph.tensors)).toBeGreaterThanOrEqual(parameters(model.tensors))
  })

  it('refuses other models in words where the graph of an encoder is asked for', async () => {
    const model = sampleModel([sampleTensor('a', 'f32', [2, 2])])
    await expect(planConversion(model, 'onnx', { name: 'm.onnx', extra: { heads: 2 } })).rejects.toMatchObject({
      code: 'embed/not-an-encoder',
    })
    const stream = await openModel(fixtureSource('embd', 'stream-tiny-bert-1layer.bin'))
    await expect(planConversion(stream, 'onnx', { name: 'm.onnx' })).rejects.toMatchObject({
      code: 'embed/heads',
      finding: { message: expect.stringContaining('with heads') },
    })
  })
})
