// Mamba: layers without attention, which carry a state from token to token. llama.cpp wants the convolution without its middle dimension, and A
// itself where checkpoints have its logarithm.
import { num, numberIn } from '../../facts.js'
import type { Config, Family, KeyRule, NameTable } from '../../family.js'
import { key } from '../shared-keys.js'

const width = (config: Config): number => num(config, 'hidden_size', 'd_model')

/** A number that the configuration states, if it is not zero. */
const stated = (config: Config, ...keys: readonly string[]): number | undefined =>
  numberIn(config, ...keys) || undefined

/** Programs that read the file want these, and no layer uses them. */
const unused: readonly KeyRule[] = [
  { key: 'feed_forward_length', type: 'u32', value: () => 0, back: () => ({}) },
  { key: 'attention.head_count', type: 'u32', value: () => 0, back: () => ({}) },
]

const context: KeyRule = { key: 'context_length', type: 'u32', value: () => 2 ** 20, back: () => ({}) }

const epsilon: KeyRule = {
  key: 'attention.layer_norm_rms_epsilon',
  type: 'f32',
  from: ['layer_norm_epsilon'],
  value: ({ config }) => stated(config, 'layer_norm_epsilon', 'rms_norm_eps') ?? 1e-5,
}

const convolution: KeyRule = {
  key: 'ssm.conv_kernel',
  type: 'u32',
  from: ['conv_kernel'],
  value: ({ config }) => stated(config, 'conv_kernel', 'd_conv') ?? 4,
}

/** The number of tokens is rounded up. */
const padded =
  (multiple: number) =>
  (config: Config): Config => {
    const by = numberIn(config, 'pad_vocab_size_multiple') ?? multiple
    const size = numberIn(config, 'vocab_size')
    return size === undefined || by <= 0 ? config : { ...config, vocab_size: Math.ceil(size / by) * by }
  }

const layer = 'backbone.layers.{n}'
const mixer = `${layer}.mixer`
const names: NameTable = {
  'backbone.embeddings': 'token_embd',
  'backbone.embedding': 'token_embd',
  lm_head: 'output',
  'backbone.norm_f': 'output_norm',
  [`${layer}.norm`]: 'blk.{n}.attn_norm',
  [`${mixer}.in_proj`]: 'blk.{n}.ssm_in',
  [`${mixer}.conv1d.weight`]: { to: 'blk.{n}.ssm_conv1d.weight', by: 'squeeze' },
  [`${mixer}.conv1d`]: 'blk.{n}.ssm_conv1d',
  [`${mixer}.out_proj`]: 'blk.{n}.ssm_out',
}

export const mamba: Family = {
  architecture: 'mamba',
  classes: ['MambaForCausalLM', 'MambaLMHeadModel', 'FalconMambaForCausalLM'],
  configs: { mamba: {}, falcon_mamba: {} },
  settings: ['num_hidden_layers', 'hidden_size'],
  settle: padded(8),
  keys: [
    context,
    { key: 'embedding_length', type: 'u32', from: ['hidden_size', 'd_model'], required: true },
    ...unused,
    key.blocks,
    convolution,
    {
      key: 'ssm.inner_size',
      type: 'u32',
      from: ['intermediate_size'],
      value: ({ config }) => stated(config, 'intermediate_size', 'd_inner') ?? 2 * width(config),
    },
    {
      key: 'ssm.state_size',
      type: 'u32',
      from: ['state_size'],
      value: ({ config }) => stated(config, 'state_size', 'd_state') ?? 16,
    },
    {
      key: 'ssm.time_step_rank',
      type: 'u32',
      from: ['time_step_rank'],
      value: ({ config }) => stated(config, 'time_step_rank', 'dt_rank') ?? Math.ceil(width(config) / 16),
    },
    epsilon,
    {
      key: 'ssm.dt_b_c_rms',
      type: 'bool',
      value: ({ config }) => config.model_type === 'falcon_mamba',
      back: (value) =>
        value === true ? { model_type: 'falcon_mamba', architectures: ['FalconMambaForCausalLM'] } : {},
    },
    key.fileType,
  ],
  tensors: {
    ...names,
    [`${mixer}.x_proj`]: 'blk.{n}.ssm_x',
    [`${mixer}.dt_proj`]: 'blk.{n}.ssm_dt',
    [`${mixer}.A_log`]: { to: 'blk.{n}.ssm_a', by: 'minus-exp' },
    [`${mixer}.D`]: 'blk.{n}.ssm_d',
  },
  dropsEqualOutput: true,
  mayLack: /\.ffn_/,
  tokenizer: 'mamba',
}

export const mamba2: Family = {
  architecture: 'mamba2',
  classes: ['Mamba2ForCausalLM'],
  configs: { mamba2: {} },
  settings: ['num_hidden_layers', 'hidden_size'],
  settle: padded(16),
  keys: [
    context,
    { key: 'embedding_length', type: 'u32', from: ['hidden_size', 'd_model', 'dim'], required: true },
    ...unused,
    key.blocks,
    convolution,
    {
      key: 'ssm.inner_size',
      type: 'u32',
      value: ({ config }) => innerSize(config),
      back: (value, config) => ({ expand: Number(value) / num(config, 'hidden_size') }),
    },
    {
      key: 'ssm.state_size',
      type: 'u32',
      from: ['state_size'],
      value: ({ config }) => stated(config, 'state_size', 'd_state') ?? 128,
    },
    {
      key: 'ssm.time_step_rank',
      type: 'u32',
      from: ['num_heads'],
      value: ({ config }) => Math.floor(innerSize(config) / (stated(config, 'mamba_d_head', 'head_dim') ?? 64)),
      back: (value, config) => ({
        num_heads: value,
        head_dim: (num(config, 'hidden_size') * num(config, 'expand')) / Number(value),
      }),
    },
    {
      key: 'ssm.group_count',
      type: 'u32',
      from: ['n_groups'],
      value: ({ config }) => stated(config, 'n_groups') ?? 1,
    },
    epsilon,
    key.fileType,
  ],
  tensors: {
    ...names,
    [`${mixer}.dt_bias`]: 'blk.{n}.ssm_dt.bias',
    [`${mixer}.A_log`]: { to: 'blk.{n}.ssm_a', by: 'minus-exp-column' },
    [`${mixer}.D`]: { to: 'blk.{n}.ssm_d', by: 'column' },
    [`${mixer}.norm.weight`]: { to: 'blk.{n}.ssm_norm.weight', by: 'norm-groups' },
  },
  respell: [[/^model\.(backbone|lm_head)/, '$1']],
  mayLack: /\.ffn_/,
  tokenizer: 'mamba-2',
}

function innerSize(config: Config): number {
  const expand = stated(config, 'mamba_expand', 'expand') ?? 2
  return (
    stated(config, 'mamba_d_ssm', 'intermediate_size', 'd_inner') ??
    expand * num(config, 'hidden_size', 'd_model', 'dim')
  )
}
