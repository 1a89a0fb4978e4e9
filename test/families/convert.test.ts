// Model directories as GGUF, from end to end, with a model that needs nobody's tokenizer.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  type ConvertOptions,
  closeModel,
  MemorySource,
  type MetaValue,
  type Model,
  openInput,
  openModel,
  readPayload,
  TareError,
} from '../../src/kit-node.js'
import { convertToFiles } from '../support/convert.js'
import { type TinyOptions, tinyConfig, tinyShapes, writeTinyModel } from './tiny-model.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-families-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let count = 0

async function convert(tiny: TinyOptions = {}, options: Partial<ConvertOptions> = {}): Promise<Model> {
  const path = await writeTinyModel(join(scratch, String(count++), 'Tiny-Llama-Chat'), tiny)
  const model = await openModel(await openInput(path))
  try {
    const files = await convertToFiles(model, 'gguf', { name: 'model.gguf', ...options })
    return await openModel(new MemorySource(files.get('model.gguf')!, 'model.gguf'))
  } finally {
    await closeModel(model)
  }
}

const plain = (value: MetaValue | undefined): unknown => {
  if (value?.type === 'array') return value.values().map(plain)
  return value && 'value' in value ? value.value : undefined
}

async function values(model: Model, name: string): Promise<number[]> {
  const { data, dtype } = model.tensors.find((tensor) => tensor.name === name)!
  const floats = new Float32Array(data!.byteLength / dtype.group.bytes)
  dtype.codec!.toF32(await readPayload(data!), floats)
  return [...floats]
}

describe('a directory becomes a file for llama.cpp', () => {
  it('has the words of GGUF, in the order of its converter', async () => {
    const model = await convert()
    expect([...model.metadata].map(([key, value]) => [key, plain(value)])).toEqual([
      ['general.architecture', 'llama'],
      ['general.type', 'model'],
      ['general.name', 'Tiny Llama Chat'],
      ['general.finetune', 'Chat'],
      ['general.basename', 'Tiny-Llama'],
      ['general.size_label', '1.1K'],
      ['llama.block_count', 2],
      ['llama.context_length', 64],
      ['llama.embedding_length', 8],
      ['llama.feed_forward_length', 12],
      ['llama.attention.head_count', 2],
      ['llama.attention.head_count_kv', 1],
      ['llama.rope.freq_base', 10000],
      ['llama.attention.layer_norm_rms_epsilon', Math.fround(1e-5)],
      ['llama.attention.key_length', 4],
      ['llama.attention.value_length', 4],
      ['general.file_type', 1],
      ['llama.vocab_size', 8],
      ['llama.rope.dimension_count', 4],
      ['general.quantization_version', 2],
      ['tokenizer.ggml.model', 'llama'],
      ['tokenizer.ggml.pre', 'default'],
      ['tokenizer.ggml.tokens', ['<unk>', '<s>', '</s>', '<0x41>', '▁a', 'b', 'c', '[PAD7]']],
      ['tokenizer.ggml.scores', [0, 0, 0, 0, -1, -2, -3, -10000]],
      ['tokenizer.ggml.token_type', [2, 3, 3, 6, 1, 1, 1, 5]],
      ['tokenizer.ggml.bos_token_id', 1],
      ['tokenizer.ggml.eos_token_id', 2],
    ])
    expect(model.tensors.map(({ name, dtype }) => `${name} ${dtype.id}`).slice(0, 6)).toEqual([
      'output.weight f16',
      'token_embd.weight f16',
      'blk.0.attn_norm.weight f32',
      'blk.0.ffn_down.weight f16',
      'blk.0.ffn_gate.weight f16',
      'blk.0.ffn_up.weight f16',
    ])
  })

  it('regroups the rows of q and k from halves to pairs, head by head', async () => {
    const model = await convert({}, { cast: 'f32' })
    const row = (matrix: readonly number[], index: number): number => Math.floor((matrix[index * 8]! - first) / 8)
    const q = await values(model, 'blk.0.attn_q.weight')
    const first = Math.min(...q)
    expect(Array.from({ length: 8 }, (_, i) => row(q, i))).toEqual([0, 2, 1, 3, 4, 6, 5, 7])
    const k = await values(model, 'blk.1.attn_k.weight')
    const start = Math.min(...k)
    expect(Array.from({ length: 4 }, (_, i) => (k[i * 8]! - start) / 8)).toEqual([0, 2, 1, 3])
  })

  it('takes the type that the weights have, unless another is asked for', async () => {
    const typeOf = (model: Model): unknown => [
      model.tensors.find(({ name }) => name === 'output.weight')?.dtype.id,
      plain(model.metadata.get('general.file_type')),
    ]
    expect(typeOf(await convert({ dtype: 'bf16' }))).toEqual(['bf16', 32])
    expect(typeOf(await convert({ dtype: 'bf16' }, { cast: 'f32' }))).toEqual(['f32', 0])
    // Rows of 8 are not whole blocks.
    expect(typeOf(await convert({ dtype: 'bf16' }, { cast: 'Q8_0' }))).toEqual(['f16', 7])
  })

  it('stacks experts, and keeps their router in f32', async () => {
    const expert = Object.fromEntries(
      [0, 1, 2].flatMap((e) =>
        [0, 1].flatMap((n) => [
          [`model.layers.${n}.block_sparse_moe.experts.${e}.w1.weight`, [12, 8]],
          [`model.layers.${n}.block_sparse_moe.experts.${e}.w2.weight`, [8, 12]],
          [`model.layers.${n}.block_sparse_moe.experts.${e}.w3.weight`, [12, 8]],
          [`model.layers.${n}.block_sparse_moe.gate.weight`, [3, 8]],
        ]),
      ),
    )
    const dense = Object.entries(tinyShapes).filter(([name]) => !name.includes('.mlp.'))
    const shapes = { ...Object.fromEntries(dense), ...expert }
    const config = { ...tinyConfig, architectures: ['MixtralForCausalLM'], model_type: 'mixtral', num_local_experts: 3 }
    const model = await convert({ config, shapes }, { cast: 'f16' })
    const stacked = model.tensors.filter(({ name }) => name.startsWith('blk.0.ffn'))
    expect(stacked.map(({ name, shape, dtype }) => `${name} ${shape} ${dtype.id}`)).toEqual([
      'blk.0.ffn_gate_exps.weight 3,12,8 f16',
      'blk.0.ffn_down_exps.weight 3,8,12 f16',
      'blk.0.ffn_up_exps.weight 3,12,8 f16',
      'blk.0.ffn_gate_inp.weight 3,8 f32',
      'blk.0.ffn_norm.weight 8 f32',
    ])
    const halves = await values(model, 'blk.0.ffn_gate_exps.weight')
    expect(halves[96]! - halves[0]!).toBeGreaterThan(0)
  })

  it('takes a number of heads that is null for the number of all heads, and a missing one for the default', async () => {
    const heads = (config: Readonly<Record<string, unknown>>, rows: number): Promise<Model> => {
      const changed = Object.entries(tinyShapes).map(([name, shape]) => [
        name,
        /[kv]_proj/.test(name) ? [rows, 8] : shape,
      ])
      const { num_key_value_heads: _, ...rest } = tinyConfig
      const mistral = { ...rest, architectures: ['MistralForCausalLM'], model_type: 'mistral', ...config }
      return convert({ config: mistral, shapes: Object.fromEntries(changed) })
    }
    const countOf = (model: Model): unknown => plain(model.metadata.get('llama.attention.head_count_kv'))
    expect(countOf(await heads({ num_key_value_heads: null }, 8))).toBe(2)
    expect(countOf(await heads({}, 32))).toBe(8)
  })

  it('does without settings for sampling that cannot be read', async () => {
    const model = await convert({ files: { 'generation_config.json': '{"temperature": ' } })
    expect([...model.metadata.keys()].filter((key) => key.startsWith('general.sampling.'))).toEqual([])
  })

  it('copies names and weights as they are where that is asked for', async () => {
    const model = await convert({}, { asIs: true })
    expect(model.tensors.map(({ name }) => name)).toContain('model.layers.0.self_attn.q_proj.weight')
    expect(model.metadata.has('llama.block_count')).toBe(false)
  })
})

describe('a directory that lies is refused, with the place and the reason', () => {
  const without = (name: string): TinyOptions['shapes'] =>
    Object.fromEntries(Object.entries(tinyShapes).filter(([each]) => each !== name))
  const config = (changes: Readonly<Record<string, unknown>>): TinyOptions => ({
    config: { ...tinyConfig, ...changes },
  })
  const cases: readonly (readonly [what: string, tiny: TinyOptions, code: string, path: string | undefined])[] = [
    ['an unknown architecture', config({ architectures: ['OtherModel'] }), 'family/architecture', 'architectures[0]'],
    ['more layers', config({ num_hidden_layers: 3 }), 'family/tensor-missing', 'blk.2.attn_norm.weight'],
    [
      'fewer layers',
      config({ num_hidden_layers: 1 }),
      'family/tensor-unknown',
      'model.layers.1.input_layernorm.weight',
    ],
    ['no number of layers', config({ num_hidden_layers: 'two' }), 'family/config-value', 'num_hidden_layers'],
    [
      'other heads',
      config({ num_attention_heads: 3 }),
      'family/tensor-shape',
      'model.layers.0.self_attn.q_proj.weight',
    ],
    ['another size of heads', config({ head_dim: 2 }), 'family/tensor-shape', 'blk.0.attn_k.weight'],
    ['another width', config({ hidden_size: 16 }), 'family/tensor-shape', 'output.weight'],
    ['a width that is no number', config({ hidden_size: -8 }), 'family/config-value', 'hidden_size'],
    [
      'a missing tensor',
      { shapes: without('model.layers.1.self_attn.v_proj.weight') },
      'family/tensor-missing',
      'blk.1.attn_v.weight',
    ],
    [
      'a tensor too many',
      { shapes: { ...tinyShapes, 'model.layers.0.extra.weight': [2] } },
      'family/tensor-unknown',
      'model.layers.0.extra.weight',
    ],
    [
      'a wrong shape',
      { shapes: { ...tinyShapes, 'model.layers.0.mlp.up_proj.weight': [12, 4] } },
      'family/tensor-shape',
      'blk.0.ffn_up.weight',
    ],
    ['no tokenizer', { files: { 'tokenizer.model': null } }, 'family/tokenizer-missing', undefined],
    [
      'a broken tokenizer',
      { files: { 'tokenizer.model': null, 'tokenizer.json': '{"model": {"type": "BPE", "vocab": {"a": "b"}}}' } },
      'family/tokenizer',
      'model.vocab["a"]',
    ],
    [
      'a tokenizer that is not JSON',
      { files: { 'tokenizer.model': null, 'tokenizer.json': '{"model": ' } },
      'family/config',
      'tokenizer.json',
    ],
    [
      'a tokenizer that nobody has a name for',
      {
        files: {
          'tokenizer.model': null,
          'tokenizer.json': JSON.stringify({
            added_tokens: [],
            pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, use_regex: true },
            decoder: { type: 'ByteLevel' },
            model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] },
          }),
        },
      },
      'family/pre-tokenizer',
      'pre_tokenizer',
    ],
    ['a vocabulary of absurd size', config({ vocab_size: 2 ** 30 }), 'family/tokenizer', 'vocab_size'],
    [
      'weights quantized by an unknown method',
      config({ quantization_config: { quant_method: 'aqlm' } }),
      'family/quantization',
      'quantization_config.quant_method',
    ],
  ]
  it.each(cases)('%s', async (_, tiny, code, path) => {
    const error = await convert(tiny).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(TareError)
    const { finding } = error as TareError
    expect({ code: finding.code, path: finding.path }).toEqual({ code, path })
  })
})
