import { InferenceSession, Tensor } from 'onnxruntime-node'
import { describe, expect, it } from 'vitest'
import {
  createEmbedder,
  MemorySink,
  nodeOnnxEngine,
  onnxExportRefusal,
  onnxModelLayout,
  writeLayout,
} from '../../src/kit-node.js'
import { layoutSize } from '../../src/model/index.js'
import { largestDifference } from './full-model.js'
import { smallModel } from './small-model.js'

const ids = [2, 5, 6, 7, 3]
const feeds = {
  input_ids: new Tensor('int64', BigInt64Array.from([...ids, 0, 0], BigInt), [1, 7]),
  attention_mask: new Tensor('int64', BigInt64Array.from([...ids.map(() => 1), 0, 0], BigInt), [1, 7]),
}

async function write(options: Parameters<typeof onnxModelLayout>[1]): Promise<Uint8Array> {
  const layout = onnxModelLayout(smallModel(), { heads: 3, ...options })
  const sink = new MemorySink('m.onnx')
  await writeLayout(layout, async () => sink)
  expect(sink.position).toBe(layoutSize(layout))
  return sink.bytes
}

describe('an exported file', () => {
  it('runs in an ONNX runtime and gives what embed gives', async () => {
    const session = await InferenceSession.create(await write({ name: 'm.onnx' }))
    expect(session.inputNames).toEqual(['input_ids', 'attention_mask'])
    expect(session.outputNames).toEqual(['token_embeddings', 'sentence_embedding'])
    const results = await session.run(feeds)
    expect(results.token_embeddings!.dims).toEqual([1, 7, 12])
    const embedder = await createEmbedder(smallModel(), { engine: await nodeOnnxEngine(), heads: 3 })
    const [wanted] = await embedder.embedIds([ids])
    expect(largestDifference(results.sentence_embedding!.data as Float32Array, wanted!)).toBeLessThan(1e-6)
    const raw = await (await InferenceSession.create(await write({ normalize: false }))).run(feeds)
    const [unscaled] = await embedder.embedIds([ids], { normalize: false })
    expect(largestDifference(raw.sentence_embedding!.data as Float32Array, unscaled!)).toBeLessThan(1e-6)
  })

  it('is the same each time, and depends on the profile', async () => {
    const [a, b, c] = [await write({}), await write({}), await write({ profile: 'reference' })]
    expect(Buffer.compare(a, b)).toBe(0)
    expect(Buffer.compare(a, c)).not.toBe(0)
  })

  it('is refused for models that are no encoders, with the reason', () => {
    expect(onnxExportRefusal(smallModel(), { heads: 3 })).toBeUndefined()
    expect(onnxExportRefusal(smallModel())).toMatch(/attention heads/)
    expect(onnxExportRefusal({ ...smallModel(), tensors: [] })).toMatch(
      /word_embeddings\.weight: there is no such tensor/,
    )
  })
})
