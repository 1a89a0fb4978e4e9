import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bf16, f16, i8 } from '../../src/dtypes/index.js'
import {
  bytesPayload,
  cosineSimilarity,
  createEmbedder,
  type EmbedderOptions,
  MemorySource,
  type Model,
  text,
} from '../../src/kit.js'
import type { Tensor } from '../../src/model/index.js'
import { nodeOnnxEngine } from '../../src/node/onnx-engine.js'
import { castTensor } from '../../src/transforms/cast.js'
import { orient } from '../../src/transforms/orientation.js'
import { quantizeTensor } from '../../src/transforms/quantize/quantize.js'
import { columnMajor } from '../../src/transforms/reorder.js'
import { largestDifference } from './full-model.js'
import { erfGelu, plainEmbedding, tanhGelu } from './plain-encoder.js'
import { smallModel, withTensors } from './small-model.js'

const engine = await nodeOnnxEngine({ threads: 1 })
const heads = 3
const options: EmbedderOptions = { engine, heads }

async function vectorsOf(model: Model, ids: readonly (readonly number[])[], more: Partial<EmbedderOptions> = {}) {
  const embedder = await createEmbedder(model, { ...options, ...more })
  const vectors = await embedder.embedIds(ids, { normalize: false })
  await embedder.close()
  return vectors
}

const lists = [
  [2, 5, 6, 7, 8, 3],
  [2, 3],
  [2, 9, 11, 12, 13, 14, 15, 10, 10, 3],
  [2, 6, 3],
]

describe('the graph computes what the formulas say', () => {
  it('original: texts of several lengths in one batch, padding masked', async () => {
    const model = smallModel()
    const found = await vectorsOf(model, lists)
    for (const [i, ids] of lists.entries()) {
      const rules = { heads, epsilon: 1e-12, gelu: erfGelu, masked: true }
      const wanted = await plainEmbedding(
        model.tensors,
        ids,
        ids.map(() => true),
        rules,
      )
      expect(largestDifference(found[i]!, wanted)).toBeLessThan(2e-6)
    }
  })

  it('reference: padding takes part in the attention and not in the mean', async () => {
    const model = smallModel()
    const padded = lists.map((ids) => [...ids, ...new Array<number>(10 - ids.length).fill(0)])
    const found = await vectorsOf(model, padded, { profile: 'reference' })
    for (const [i, ids] of padded.entries()) {
      const rules = { heads, epsilon: 1e-5, gelu: tanhGelu, masked: false }
      const wanted = await plainEmbedding(
        model.tensors,
        ids,
        ids.map((id) => id !== 0),
        rules,
      )
      expect(largestDifference(found[i]!, wanted)).toBeLessThan(2e-6)
    }
  })

  it.each([
    { hidden: 8, intermediate: 8, layers: 1, heads: 1 },
    { hidden: 8, intermediate: 4, layers: 3, heads: 8 },
    { hidden: 2, intermediate: 30, layers: 1, heads: 2 },
  ])('for the shape %j', async ({ heads: count, ...shape }) => {
    const model = smallModel(shape)
    const [found] = await vectorsOf(model, [lists[0]!], { heads: count, orientation: 'in-out' })
    const rules = { heads: count, epsilon: 1e-12, gelu: erfGelu, masked: true }
    const wanted = await plainEmbedding(
      model.tensors,
      lists[0]!,
      lists[0]!.map(() => true),
      rules,
    )
    expect(largestDifference(found!, wanted)).toBeLessThan(2e-6)
  })
})

describe('weights', () => {
  const same = async (model: Model, more?: Partial<EmbedderOptions>): Promise<number> => {
    const [[a], [b]] = [await vectorsOf(smallModel(), [lists[0]!]), await vectorsOf(model, [lists[0]!], more)]
    return largestDifference(a!, b!)
  }

  it('lie either way round', async () => {
    expect(await same(orient(smallModel(), 'out-in').model)).toBe(0)
  })

  it('that are square must be told about', async () => {
    const square = smallModel({ intermediate: 12 })
    const [[assumed], [told]] = [
      await vectorsOf(square, [lists[0]!]),
      await vectorsOf(square, [lists[0]!], { orientation: 'in-out' }),
    ]
    expect(largestDifference(assumed!, told!)).toBeGreaterThan(1e-3)
    expect((await createEmbedder(square, options)).isOrientationAssumed).toBe(true)
  })

  it('have any float type', async () => {
    expect(await same(withTensors(smallModel(), (tensor) => castTensor(tensor, f16)))).toBeLessThan(1e-2)
    expect(await same(withTensors(smallModel(), (tensor) => castTensor(tensor, bf16)))).toBeLessThan(5e-2)
  })

  it('are quantized or in column order', async () => {
    const isLinear = ({ shape, name }: Tensor): boolean => shape.length === 2 && name.startsWith('encoder')
    const quantized = withTensors(smallModel(), (tensor) => (isLinear(tensor) ? quantizeTensor(tensor, 'q8') : tensor))
    expect(quantized.tensors.some((tensor) => tensor.dtype.kind === 'block')).toBe(true)
    expect(await same(quantized)).toBeLessThan(2e-2)
    expect(await same(withTensors(smallModel(), (tensor) => columnMajor(tensor)))).toBe(0)
  })

  it('have a prefix or old names', async () => {
    const renamed = withTensors(smallModel(), (tensor) => ({
      ...tensor,
      name: `0.auto_model.${tensor.name.replace(/LayerNorm\.weight/, 'LayerNorm.gamma').replace(/LayerNorm\.bias/, 'LayerNorm.beta')}`,
    }))
    expect(await same(renamed)).toBe(0)
  })
})

describe('models that cannot be used', () => {
  const refused = (model: Model, more: Partial<EmbedderOptions> = {}) => createEmbedder(model, { ...options, ...more })

  it.each<[string, Model, Partial<EmbedderOptions>?]>([
    ['embed/not-an-encoder', { ...smallModel(), tensors: [] }],
    [
      'embed/not-an-encoder',
      withTensors(smallModel(), (t) => (t.name.includes('layer.1.output.dense.bias') ? undefined : t)),
    ],
    [
      'embed/not-an-encoder',
      withTensors(smallModel(), (t) => ({ ...t, name: t.name.replace('layer.1', 'layer.999999') })),
    ],
    [
      'embed/shape',
      withTensors(smallModel(), (t) =>
        t.name.includes('layer.1.output.dense') ? { ...t, shape: t.shape.toReversed() } : t,
      ),
    ],
    ['embed/shape', withTensors(smallModel(), (t) => (t.name.endsWith('query.bias') ? { ...t, shape: [6, 2] } : t))],
    ['embed/undecodable', withTensors(smallModel(), (t) => ({ ...t, data: null }))],
    ['embed/undecodable', withTensors(smallModel(), (t) => ({ ...t, quant: { scheme: 'symmetric', scales: [1] } }))],
    ['embed/undecodable', withTensors(smallModel(), (t) => (t.shape.length === 1 ? { ...t, dtype: i8 } : t))],
    ['embed/heads', smallModel(), { heads: undefined }],
    ['usage/option', smallModel(), { heads: 5 }],
    ['usage/option', smallModel(), { maxLength: 11 }],
    ['tokenize/no-vocabulary', { ...smallModel(), parts: [] }],
  ])('%s (%#)', async (code, model, more) => {
    await expect(refused(model, more)).rejects.toMatchObject({ code })
  })

  it('embed/too-large, before anything is read', async () => {
    const huge = withTensors(smallModel(), (tensor) => {
      if (!tensor.name.endsWith('word_embeddings.weight')) return tensor
      const byteLength = 2 ** 26 * 12 * 4
      const data = { byteLength, chunks: () => expect.fail('the weights were read') }
      return { ...tensor, shape: [2 ** 26, 12], data }
    })
    await expect(refused(huge)).rejects.toMatchObject({ code: 'embed/too-large' })
  })
})

describe('heads', () => {
  const headsOf = async (model: Model): Promise<number> => (await createEmbedder(model, { engine })).shape.heads
  const metadata = (value: string): Model => ({
    ...smallModel(),
    metadata: new Map([['num_attention_heads', text(value)]]),
  })

  it('come from the metadata, or from config.json beside the model', async () => {
    expect(await headsOf(metadata('4'))).toBe(4)
    const config = new TextEncoder().encode('{"num_attention_heads": 6}')
    const file = new MemorySource(new Uint8Array(1), 'model.bin', new Map([['config.json', config]]))
    expect(await headsOf({ ...smallModel(), files: [file] })).toBe(6)
  })

  it.each(['5', '0', '-1', 'many', '1e400'])('are refused when the metadata say %s', async (value) => {
    await expect(headsOf(metadata(value))).rejects.toMatchObject({ code: 'embed/heads' })
  })
})

describe('texts', () => {
  it('keep their order, whatever batches they went in', async () => {
    const embedder = await createEmbedder(smallModel(), { ...options, batchSize: 3 })
    const words = fc.array(fc.constantFrom('the', 'fox', 'foxes', 'run', 'a', 'dog'), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(fc.array(words, { maxLength: 8 }), async (several) => {
        const texts = several.map((each) => each.join(' '))
        const together = await embedder.embed(texts)
        for (const [i, each] of texts.entries()) {
          const [alone] = await embedder.embed([each])
          expect(largestDifference(together[i]!.vector, alone!.vector)).toBeLessThan(2e-6)
        }
      }),
      { numRuns: 10 },
    )
    await embedder.close()
  })

  it('are cut to the length, scaled to 1 and counted', async () => {
    const embedder = await createEmbedder(smallModel(), { ...options, maxLength: 4 })
    const progress: [number, number][] = []
    const [long, short] = await embedder.embed(['the fox run a dog', 'fox'], {
      onProgress: (...each) => progress.push(each),
    })
    expect(long).toMatchObject({ tokens: 4, cut: 3 })
    expect(short).toMatchObject({ tokens: 3, cut: 0 })
    expect(Math.hypot(...long!.vector)).toBeCloseTo(1, 6)
    expect(progress).toEqual([[2, 2]])
    expect(largestDifference(long!.vector, (await embedder.embed(['the fox']))[0]!.vector)).toBeLessThan(1e-6)
    const [raw] = await embedder.embed(['fox'], { normalize: false })
    expect(cosineSimilarity(raw!.vector, short!.vector)).toBeCloseTo(1, 6)
    expect(Math.abs(Math.hypot(...raw!.vector) - 1)).toBeGreaterThan(1e-3)
  })

  it('that the encoder cannot take are refused', async () => {
    const embedder = await createEmbedder(smallModel({ vocabulary: 6 }), options)
    await expect(embedder.embed(['fox'])).rejects.toMatchObject({ code: 'embed/id-range' })
    await expect(embedder.embedIds([[2, -1]])).rejects.toMatchObject({ code: 'embed/id-range' })
    await expect(embedder.embedIds([new Array<number>(11).fill(2)])).rejects.toMatchObject({ code: 'embed/max-length' })
    await expect(embedder.embedIds([[]])).rejects.toMatchObject({ code: 'embed/only-padding' })
    expect(await embedder.embed([])).toEqual([])
    const reference = await createEmbedder(smallModel(), { ...options, profile: 'reference' })
    await expect(reference.embedIds([[0, 0]])).rejects.toMatchObject({ code: 'embed/only-padding' })
  })

  it('stop when they are cancelled', async () => {
    const embedder = await createEmbedder(smallModel(), options)
    await expect(embedder.embed(['fox'], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'io/aborted' })
  })
})

describe('engines', () => {
  it('that are not installed are named, with what to do', async () => {
    const load = () => import('no-such-package-for-sure' as string)
    await expect(nodeOnnxEngine({ load })).rejects.toMatchObject({
      code: 'embed/engine-missing',
      message: expect.stringContaining('npm install onnxruntime-node'),
    })
  })

  it('that fail are told apart from damaged models', async () => {
    const broken = { name: 'broken', load: () => engine.load(bytesPayload(Uint8Array.of(1, 2, 3))) }
    await expect(createEmbedder(smallModel(), { ...options, engine: broken })).rejects.toMatchObject({
      code: 'embed/engine-failed',
    })
  })
})

it('cosineSimilarity', () => {
  expect(cosineSimilarity([1, 0], [0, 2])).toBe(0)
  expect(cosineSimilarity([1, 2], [2, 4])).toBeCloseTo(1, 12)
  expect(cosineSimilarity([1, 2], [-1, -2])).toBeCloseTo(-1, 12)
  expect(cosineSimilarity([0, 0], [1, 2])).toBe(0)
  expect(() => cosineSimilarity([1], [1, 2])).toThrow(RangeError)
})
