import { expect, test } from 'vitest'
import { architectureOf } from '../../src/content/architecture.js'
import { filePart } from '../../src/content/companions.js'
import type { CacheSize } from '../../src/content/kv-cache.js'
import { f16, f32 } from '../../src/dtypes/floats.js'
import { summarizeModel } from '../../src/inspect/summary.js'
import {
  bytesPayload,
  listOf,
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
  cache: { perToken: 2 * 16 * 8 * 64 },
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
  for (const model_type of ['bert', 'siglip', 'mamba2', 'rwkv7', 't5'])
    expect(await cacheOf({ ...llama, model_type })).toBeUndefined()
  expect(await cacheOf({ ...llama, is_encoder_decoder: true })).toBeUndefined()
  expect(await cacheOf({ ...llama, num_hidden_layers: 1e9 })).toBeUndefined()
})

const cacheOf = async (settings: object): Promise<CacheSize | undefined> =>
  (await architectureOf(modelOf({}, [config(settings)])))?.cache

const perLayer = 2 * 8 * 64

test('heads may share keys and values, and layers one short vector', async () => {
  const falcon = { ...llama, model_type: 'falcon', num_key_value_heads: undefined, num_kv_heads: 32 }
  expect(await cacheOf({ ...falcon, multi_query: true })).toEqual({ perToken: 2 * 16 * 64 })
  const newer = { ...falcon, multi_query: true, new_decoder_architecture: true, num_kv_heads: 8 }
  expect(await cacheOf(newer)).toEqual({ perToken: 16 * perLayer })
  const deepseek = { ...llama, model_type: 'deepseek_v2', kv_lora_rank: 512, qk_rope_head_dim: 64, v_head_dim: 128 }
  expect(await cacheOf(deepseek)).toEqual({ perToken: 16 * (512 + 64) })
  expect(await cacheOf({ ...deepseek, qk_rope_head_dim: undefined })).toBeUndefined()
})

test('layers with a window keep no more than that', async () => {
  const windowed = (count: number, tokens = 512): CacheSize => ({
    perToken: 16 * perLayer,
    window: { tokens, perToken: count * perLayer },
  })
  const mistral = { ...llama, model_type: 'mistral', sliding_window: 512 }
  expect(await cacheOf(mistral)).toEqual(windowed(16))
  expect(await cacheOf({ ...mistral, use_sliding_window: false })).toEqual({ perToken: 16 * perLayer })
  expect(await cacheOf({ ...mistral, sliding_window: null })).toEqual({ perToken: 16 * perLayer })
  expect(await cacheOf({ ...mistral, max_window_layers: 10 })).toEqual(windowed(6))
  expect(await cacheOf({ ...mistral, model_type: 'gemma2' })).toEqual(windowed(8))
  expect(await cacheOf({ ...mistral, model_type: 'gemma3', sliding_window_pattern: 4 })).toEqual(windowed(12))
  const types = [...new Array(15).fill('sliding_attention'), 'full_attention']
  expect(await cacheOf({ ...mistral, layer_types: types })).toEqual(windowed(15))
  expect(await cacheOf({ ...llama, layer_types: types, attention_chunk_size: 8192 })).toEqual(windowed(15, 8192))
  const { kvCache } = await summarizeModel(modelOf({}, [config({ ...mistral, layer_types: types })]))
  expect(kvCache?.bytes).toBe(2 * perLayer * (131072 + 15 * 512))
})

test('layers without attention keep nothing that grows', async () => {
  const four = { perToken: 4 * perLayer }
  const types = Array.from({ length: 16 }, (_, i) => (i % 4 === 3 ? 'full_attention' : 'linear_attention'))
  expect(await cacheOf({ ...llama, layer_types: types })).toEqual(four)
  expect(await cacheOf({ ...llama, full_attention_interval: 4 })).toEqual(four)
  expect(await cacheOf({ ...llama, attn_layer_period: 4, attn_layer_offset: 2 })).toEqual(four)
  expect(await cacheOf({ ...llama, attn_layer_indices: [1, 5, 9, 13] })).toEqual(four)
  expect(await cacheOf({ ...llama, hybrid_override_pattern: 'M-M*'.repeat(4) })).toEqual(four)
  expect(await cacheOf({ ...llama, num_kv_shared_layers: 12 })).toEqual(four)
})

test('GGUF lists heads and windows by layer', async () => {
  const keys = {
    'general.architecture': text('x'),
    'x.block_count': u32(4),
    'x.embedding_length': u32(2048),
    'x.attention.head_count': u32(32),
    'x.context_length': u32(1024),
  }
  const lfm = modelOf({
    ...keys,
    'x.attention.head_count_kv': listOf(
      'i32',
      [0, 8, 0, 4].map((value) => ({ type: 'i32', value })),
    ),
  })
  expect((await architectureOf(lfm))?.cache).toEqual({ perToken: 2 * 12 * 64 })
  const gemma = modelOf({
    ...keys,
    'x.attention.head_count_kv': u32(8),
    'x.attention.key_length': u32(256),
    'x.attention.value_length': u32(128),
    'x.attention.sliding_window': u32(512),
    'x.attention.sliding_window_pattern': listOf(
      'bool',
      [true, true, true, false].map((value) => ({ type: 'bool', value })),
    ),
  })
  const each = 8 * (256 + 128)
  expect((await architectureOf(gemma))?.cache).toEqual({
    perToken: 4 * each,
    window: { tokens: 512, perToken: 3 * each },
  })
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
