// GGUF files as directories, with a model that needs nobody's tokenizer.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  bytesPayload,
  type ConvertOptions,
  closeModel,
  dtypeById,
  MemorySource,
  type MetaValue,
  type Model,
  openInput,
  openModel,
  TareError,
  type Tensor,
  text,
} from '../../src/kit-node.js'
import { listOf } from '../../src/model/index.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { type TinyOptions, tinyConfig, tinyShapes, tinyTensors, writeTinyModel } from './tiny-model.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-back-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let count = 0

type Files = ReadonlyMap<string, Uint8Array>

async function tinyGguf(tiny: TinyOptions = {}, cast = 'f32'): Promise<Uint8Array> {
  const path = await writeTinyModel(join(scratch, String(count++), 'Tiny-Llama-Chat'), tiny)
  const model = await openModel(await openInput(path))
  try {
    return (await convertToFiles(model, 'gguf', { name: 'model.gguf', cast })).get('model.gguf')!
  } finally {
    await closeModel(model)
  }
}

const open = (gguf: Uint8Array): Promise<Model> => openModel(new MemorySource(gguf, 'model.gguf'))

/** The directory that a file becomes, the main file first. */
const back = (model: Model, options: Partial<ConvertOptions> = {}): Promise<Map<string, Uint8Array>> =>
  convertToFiles(model, 'safetensors', { name: 'model.safetensors', folder: true, ...options })

/** A directory in memory as a model, with its companions. */
async function forth(files: Files, cast = 'f32'): Promise<Uint8Array> {
  const source = sourceOf(files)
  const folder = { name: 'Other-Name-7B', files: [...files.keys()], isWhole: true }
  const model = await openModel(Object.assign(source, { folder }))
  return (await convertToFiles(model, 'gguf', { name: 'model.gguf', cast })).get('model.gguf')!
}

const json = (files: Files, name: string): unknown => JSON.parse(new TextDecoder().decode(files.get(name)))

describe('a file for llama.cpp becomes a directory', () => {
  it('with names, settings, a tokenizer and a card', async () => {
    const files = await back(await open(await tinyGguf()))
    expect([...files.keys()].sort()).toEqual([
      'README.md',
      'config.json',
      'gguf.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer.model',
      'tokenizer_config.json',
    ])
    const model = await openModel(sourceOf(files))
    expect(model.tensors.map(({ name }) => name).sort()).toEqual(Object.keys(tinyShapes).sort())
    expect(json(files, 'config.json')).toMatchObject({
      architectures: ['LlamaForCausalLM'],
      model_type: 'llama',
      hidden_size: 8,
      num_key_value_heads: 1,
      rms_norm_eps: 1e-5,
      tie_word_embeddings: false,
      torch_dtype: 'float32',
      bos_token_id: 1,
    })
    expect(new TextDecoder().decode(files.get('README.md'))).toContain('name: Tiny Llama Chat')
    // The file does not say it, and llama.cpp puts the first token before every text.
    expect(json(files, 'gguf.json')).toEqual({ unset: ['tokenizer.ggml.add_bos_token'] })
    expect(json(files, 'tokenizer.json')).toMatchObject({
      post_processor: { single: [{ SpecialToken: { id: '<s>' } }, { Sequence: { id: 'A' } }] },
    })
  })

  it('with the elements where they were', async () => {
    const files = await back(await open(await tinyGguf()))
    const weights = await convertToFiles(
      {
        format: 'memory',
        metadata: new Map([['format', text('pt')]]),
        tensors: tinyTensors(tinyShapes),
        parts: [],
        files: [],
      },
      'safetensors',
      { name: 'model.safetensors' },
    )
    expect(files.get('model.safetensors')).toEqual(weights.get('model.safetensors'))
  })

  it.each(['f32', 'f16', 'bf16'])('that becomes the same file again, of %s', async (cast) => {
    const gguf = await tinyGguf({}, cast)
    expect(await forth(await back(await open(gguf)), cast)).toEqual(gguf)
  })

  it('that becomes the same file again, in shards', async () => {
    const gguf = await tinyGguf()
    const files = await back(await open(gguf), { shardSize: 1000 })
    expect([...files.keys()]).toContain('gguf.json')
    expect(await forth(files)).toEqual(gguf)
  })

  it('that carries what it has no place for in a file of its own', async () => {
    const model = await open(await tinyGguf())
    const [first, ...others] = [...model.metadata]
    const entries: [string, MetaValue][] = [
      first!,
      ['custom.key', { type: 'u64', value: 2n ** 60n }],
      ...others.filter(([key]) => key !== 'general.quantization_version'),
      ['general.author', text('Somebody')],
    ]
    const changed: Model = { ...model, metadata: new Map(entries), tensors: model.tensors.toReversed() }
    const gguf = (await convertToFiles(changed, 'gguf', { name: 'model.gguf' })).get('model.gguf')!
    const files = await back(await open(gguf))
    expect(json(files, 'gguf.json')).toMatchObject({ set: { 'custom.key': ['u64', '1152921504606846976'] } })
    expect(await forth(files)).toEqual(gguf)
  })

  it('of an older file that has fewer keys, which becomes the same file again', async () => {
    const model = await open(await tinyGguf())
    const missing = /vocab_size|key_length|value_length|general\.type|quantization_version/
    const metadata = new Map([...model.metadata].filter(([key]) => !missing.test(key)))
    const gguf = (await convertToFiles({ ...model, metadata }, 'gguf', { name: 'model.gguf' })).get('model.gguf')!
    const files = await back(await open(gguf))
    expect(json(files, 'config.json')).toMatchObject({ vocab_size: 8 })
    expect(await forth(files)).toEqual(gguf)
  })

  it('without a tokenizer, where the file has none', async () => {
    const model = await open(await tinyGguf())
    const metadata = new Map([...model.metadata].filter(([key]) => !key.startsWith('tokenizer.')))
    expect([...(await back({ ...model, metadata })).keys()].sort()).toEqual([
      'README.md',
      'config.json',
      'model.safetensors',
    ])
  })

  it('is copied as it is where that is asked for', async () => {
    const files = await back(await open(await tinyGguf()), { asIs: true })
    expect([...files.keys()]).toEqual(['model.safetensors'])
    const model = await openModel(sourceOf(files))
    expect(model.tensors.map(({ name }) => name)).toContain('blk.0.attn_q.weight')
  })
})

describe('quantized weights', () => {
  const size = 32
  const wide = Object.fromEntries(
    Object.entries(tinyShapes).map(([name, shape]) => [name, shape.map((each) => (each === 4 ? 16 : each * 4))]),
  )
  const config = {
    ...tinyConfig,
    hidden_size: size,
    intermediate_size: 48,
    vocab_size: size,
  }

  it('are refused, with what to do', async () => {
    const gguf = await tinyGguf({ shapes: wide, config }, 'q8_0')
    const finding = await refusal(await open(gguf))
    expect(finding).toMatchObject({ code: 'family/quantization', path: 'output.weight' })
    expect(finding.message).toContain('dequantize')
  })

  it('become values where that is asked for, and the same codes again', async () => {
    const gguf = await tinyGguf({ shapes: wide, config }, 'q8_0')
    const files = await back(await open(gguf), { dequantize: ['*'] })
    expect(await forth(files, 'q8_0')).toEqual(gguf)
    const half = await back(await open(gguf), { cast: 'bf16' })
    expect(json(half, 'config.json')).toMatchObject({ torch_dtype: 'bfloat16' })
    const { tensors } = await openModel(sourceOf(half))
    expect(new Set(tensors.map(({ dtype }) => dtype.id))).toEqual(new Set(['bf16']))
  })
})

async function refusal(model: Model): Promise<TareError['finding']> {
  const error = await back(model).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(TareError)
  return (error as TareError).finding
}

describe('a file that lies is refused, with the place and the reason', () => {
  const set =
    (key: string, value: MetaValue) =>
    (model: Model): Model => ({ ...model, metadata: new Map([...model.metadata, [key, value]]) })
  const without =
    (key: string) =>
    (model: Model): Model => ({ ...model, metadata: new Map([...model.metadata].filter(([each]) => each !== key)) })
  const tensors =
    (change: (tensors: readonly Tensor[]) => readonly Tensor[]) =>
    (model: Model): Model => ({ ...model, tensors: change(model.tensors) })
  const u32 = (value: number): MetaValue => ({ type: 'u32', value })
  const extra = (name: string, shape: readonly number[]): Tensor => {
    const bytes = new Uint8Array(4 * shape.reduce((product, each) => product * each, 1))
    return { name, dtype: dtypeById('f32')!, shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
  }
  const reshaped = (name: string, shape: readonly number[]): ((model: Model) => Model) =>
    tensors((all) => all.map((each) => (each.name === name ? extra(name, shape) : each)))
  const cases: readonly (readonly [what: string, change: (model: Model) => Model, code: string, path: string])[] = [
    [
      'an unknown architecture',
      set('general.architecture', text('other')),
      'family/architecture',
      'general.architecture',
    ],
    [
      'an architecture that is not a text',
      set('general.architecture', u32(1)),
      'family/config-value',
      'general.architecture',
    ],
    ['more layers', set('llama.block_count', u32(3)), 'family/tensor-missing', 'blk.2.attn_norm.weight'],
    ['fewer layers', set('llama.block_count', u32(1)), 'family/tensor-unknown', 'blk.1.attn_norm.weight'],
    [
      'absurdly many layers',
      set('llama.block_count', u32(2 ** 31)),
      'family/config-value',
      'llama (num_hidden_layers)',
    ],
    ['other heads', set('llama.attention.head_count', u32(3)), 'family/tensor-shape', 'blk.0.attn_q.weight'],
    ['heads without a number', set('llama.attention.head_count', u32(0)), 'family/tensor-shape', 'blk.0.attn_q.weight'],
    [
      'heads that are text',
      set('llama.attention.head_count', text('two')),
      'family/config-value',
      'llama.attention.head_count',
    ],
    ['another width', set('llama.embedding_length', u32(16)), 'family/tensor-shape', 'output.weight'],
    ['no width', without('llama.embedding_length'), 'family/config-value', 'llama.embedding_length'],
    [
      'a tensor too many',
      tensors((all) => [...all, extra('blk.0.extra.weight', [2])]),
      'family/tensor-unknown',
      'blk.0.extra.weight',
    ],
    [
      'a missing tensor',
      tensors((all) => all.filter(({ name }) => name !== 'blk.1.attn_v.weight')),
      'family/tensor-missing',
      'blk.1.attn_v.weight',
    ],
    ['a wrong shape', reshaped('blk.0.ffn_up.weight', [12, 4]), 'family/tensor-shape', 'blk.0.ffn_up.weight'],
    [
      'factors that no configuration gives',
      tensors((all) => [...all, extra('rope_freqs.weight', [2])]),
      'family/config-value',
      'rope_freqs.weight',
    ],
    [
      'far too many factors',
      tensors((all) => [...all, extra('rope_freqs.weight', [70_000])]),
      'family/tensor-shape',
      'rope_freqs.weight',
    ],
    ['another tokenizer', set('tokenizer.ggml.model', text('rwkv')), 'family/tokenizer', 'tokenizer.ggml.model'],
    ['tokens that are no list', set('tokenizer.ggml.tokens', u32(8)), 'family/tokenizer', 'tokenizer.ggml.tokens'],
    [
      'a token that is not UTF-8',
      (model) => {
        const tokens = model.metadata.get('tokenizer.ggml.tokens') as MetaValue & { type: 'array' }
        const broken: MetaValue = { type: 'str', value: '\ufffd', bytes: Uint8Array.of(0xff) }
        return set('tokenizer.ggml.tokens', listOf('str', tokens.values().with(0, broken)))(model)
      },
      'family/tokenizer',
      'tokenizer.ggml.tokens[0]',
    ],
    [
      'a token beyond the last',
      set('tokenizer.ggml.bos_token_id', u32(8)),
      'family/tokenizer',
      'tokenizer.ggml.bos_token_id',
    ],
    [
      'an unknown way to split text',
      (model) => set('tokenizer.ggml.pre', text('nobody'))(set('tokenizer.ggml.model', text('gpt2'))(model)),
      'family/pre-tokenizer',
      'tokenizer.ggml.pre',
    ],
  ]
  it.each(cases)('%s', async (_, change, code, path) => {
    const finding = await refusal(change(await open(await tinyGguf())))
    expect({ code: finding.code, path: finding.path }).toEqual({ code, path })
  })
})
