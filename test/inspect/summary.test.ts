import { expect, test } from 'vitest'
import { architectureOf } from '../../src/content/architecture.js'
import { filePart } from '../../src/content/companions.js'
import { f16, f32 } from '../../src/dtypes/floats.js'
import { summarizeModel } from '../../src/inspect/summary.js'
import {
  bytesPayload,
  type Metadata,
  type MetaValue,
  type Model,
  type Part,
  type Tensor,
  text,
} from '../../src/model/index.js'

const modelOf = (metadata: Readonly<Record<string, MetaValue>>, parts: readonly Part[] = []): Model => ({
  format: 'test',
  metadata: new Map(Object.entries(metadata)) as Metadata,
  tensors: [],
  parts,
  files: [],
})

const u32 = (value: number): MetaValue => ({ type: 'u32', value })

const config = (value: unknown): Part =>
  filePart('config.json', bytesPayload(new TextEncoder().encode(JSON.stringify(value))))

const llama = {
  model_type: 'llama',
  num_hidden_layers: 16,
  hidden_size: 2048,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  max_position_embeddings: 131072,
  vocab_size: 128256,
}

const expected = {
  architecture: 'llama',
  layers: 16,
  hidden: 2048,
  heads: 32,
  kvHeads: 8,
  headDim: 64,
  context: 131072,
  vocabulary: 128256,
  cachePerToken: 2 * 16 * 8 * 64,
}

test('the same model is described alike by every format', async () => {
  expect(await architectureOf(modelOf({}, [config(llama)]))).toEqual(expected)
  const gguf = modelOf({
    'general.architecture': text('llama'),
    'llama.block_count': u32(16),
    'llama.embedding_length': u32(2048),
    'llama.attention.head_count': u32(32),
    'llama.attention.head_count_kv': u32(8),
    'llama.context_length': u32(131072),
    'llama.vocab_size': u32(128256),
  })
  expect(await architectureOf(gguf)).toEqual(expected)
  const { model_type, ...numbers } = llama
  const texts = Object.entries(numbers).map(([key, value]) => [key, text(String(value))])
  const plain = modelOf({ architecture: text(model_type), ...Object.fromEntries(texts) })
  expect(await architectureOf(plain)).toEqual(expected)
  const value = { arch: 'llama', layerCount: 16, hiddenSize: 2048, headCount: 32, headCountKv: 8 }
  const info: Part = {
    kind: 'x.model-info',
    sharing: 'private',
    value: { ...value, contextLength: 131072, vocabSize: 128256 },
  }
  expect(await architectureOf(modelOf({}, [info]))).toEqual(expected)
})

test('the part for texts of a larger model counts', async () => {
  const { model_type, ...inner } = llama
  const model = modelOf({}, [config({ model_type, vision_config: {}, text_config: inner })])
  expect(await architectureOf(model)).toEqual(expected)
})

test('nothing is made up: no word, no number, no cache of an encoder', async () => {
  expect(await architectureOf(modelOf({}))).toBeUndefined()
  expect(await architectureOf(modelOf({}, [config([1])]))).toBeUndefined()
  expect(await architectureOf(modelOf({ num_layers: text('many'), hidden_size: u32(0) }))).toBeUndefined()
  expect(await architectureOf(modelOf({}, [config({ ...llama, model_type: 'bert' })]))).not.toHaveProperty(
    'cachePerToken',
  )
  expect(await architectureOf(modelOf({}, [config({ ...llama, kv_lora_rank: 512 })]))).not.toHaveProperty(
    'cachePerToken',
  )
})

test('memory and bits per weight are those of the stored bytes', async () => {
  const tensor = (name: string, dtype: Tensor['dtype'], count: number, role: Tensor['role'] = 'weight'): Tensor => ({
    ...{ name, dtype, shape: [count], order: 'row', role },
    data: bytesPayload(new Uint8Array(count * dtype.group.bytes)),
  })
  const tensors = [tensor('a', f16, 30), tensor('b', f32, 10), tensor('m', f32, 10, 'state')]
  const summary = await summarizeModel({ ...modelOf({}, [config(llama)]), tensors })
  expect(summary).toEqual({
    architecture: expected,
    parameters: 40,
    bitsPerWeight: 20,
    weightBytes: 100,
    kvCache: { bytesPerToken: 32768, bytes: 4 * 1024 ** 3 },
  })
})
