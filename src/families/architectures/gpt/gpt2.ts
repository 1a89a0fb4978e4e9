// GPT-2, GPT-BigCode (StarCoder) and CodeShell. GPT-2 stores linear weights as [in, out].
import { num } from '../../facts.js'
import type { Default, Family, KeyRule, NameTable } from '../../family.js'
import { key } from '../shared-keys.js'

const config: Readonly<Record<string, Default>> = {
  n_layer: 12,
  n_positions: 1024,
  max_length: 20,
  n_embd: 768,
  n_inner: null,
  n_head: 12,
  layer_norm_epsilon: 1e-5,
  vocab_size: 50257,
}

const embedding: KeyRule = { ...key.embedding, from: ['n_embd'] }
const feedForward: KeyRule = {
  key: 'feed_forward_length',
  type: 'u32',
  value: ({ config }) => 4 * num(config, 'n_embd'),
  back: (value) => ({ n_inner: value }),
  required: true,
}
const heads: KeyRule = { ...key.heads, from: ['n_head'] }
const epsilon: KeyRule = { key: 'attention.layer_norm_epsilon', type: 'f32', from: ['layer_norm_epsilon'] }

const names: NameTable = {
  wte: 'token_embd',
  wpe: 'position_embd',
  lm_head: 'output',
  ln_f: 'output_norm',
  'h.{n}.ln_1': 'blk.{n}.attn_norm',
  'h.{n}.attn.c_attn': 'blk.{n}.attn_qkv',
  'h.{n}.attn.c_proj': 'blk.{n}.attn_output',
  'h.{n}.ln_2': 'blk.{n}.ffn_norm',
  'h.{n}.mlp.c_fc': 'blk.{n}.ffn_up',
  'h.{n}.mlp.c_proj': 'blk.{n}.ffn_down',
}

/** Buffers of the attention mask. */
const drops = [/(^|\.)h\.\d+\.attn\.(masked_)?bias$/]

export const gpt2: Family = {
  architecture: 'gpt2',
  classes: ['GPT2LMHeadModel'],
  configs: { gpt2: config },
  keys: [
    key.blocks,
    { ...key.context, from: ['n_ctx', 'n_positions'] },
    embedding,
    feedForward,
    heads,
    epsilon,
    key.fileType,
  ],
  tensors: {
    ...names,
    'h.{n}.attn.c_attn': { to: 'blk.{n}.attn_qkv', by: 'transpose' },
    'h.{n}.attn.c_proj': { to: 'blk.{n}.attn_output', by: 'transpose' },
    'h.{n}.mlp.c_fc': { to: 'blk.{n}.ffn_up', by: 'transpose' },
    'h.{n}.mlp.c_proj': { to: 'blk.{n}.ffn_down', by: 'transpose' },
  },
  prefix: { remove: ['transformer.'], back: 'transformer.' },
  drops,
  tokenizer: 'bpe',
}

export const starcoder: Family = {
  architecture: 'starcoder',
  classes: ['GPTBigCodeForCausalLM'],
  configs: { gpt_bigcode: { ...config, num_key_value_heads: 1 } },
  keys: [
    { ...key.context, from: ['n_positions'] },
    embedding,
    feedForward,
    key.blocks,
    heads,
    { key: 'attention.head_count_kv', type: 'u32', value: () => 1 },
    epsilon,
    key.fileType,
  ],
  tensors: names,
  prefix: { remove: ['transformer.'], back: 'transformer.' },
  drops,
  tokenizer: 'bpe',
}

export const codeShell: Family = {
  architecture: 'codeshell',
  classes: ['CodeShellForCausalLM'],
  configs: { codeshell: {} },
  settings: ['n_layer', 'n_positions', 'n_embd', 'n_head', 'num_query_groups', 'layer_norm_epsilon'],
  keys: [
    { ...key.context, from: ['n_positions'] },
    embedding,
    feedForward,
    key.blocks,
    heads,
    { key: 'attention.head_count_kv', type: 'u32', from: ['num_query_groups'], required: true },
    epsilon,
    key.fileType,
    { key: 'rope.freq_base', type: 'f32', value: () => 10000 },
    { key: 'rope.scaling.type', type: 'str', value: () => 'linear' },
    { key: 'rope.scaling.factor', type: 'f32', value: () => 1 },
  ],
  tensors: names,
  prefix: { remove: ['transformer.'], back: 'transformer.' },
  drops,
  tokenizer: 'bpe',
}
