// Qwen3-Next: linear attention in most layers, gated attention in every fourth, experts in all, and a layer at the end that predicts further
// tokens. Norms multiply by one plus the stored weight.
import { headSize, num, numberIn } from '../../facts.js'
import type { Config, Family, NameTable } from '../../family.js'
import { qwen3Moe } from '../decoders/qwen.js'
import { each } from '../shared-names.js'

const layer = 'model.layers.{n}'
const linear = `${layer}.linear_attn`

/** How many layers predict further tokens; the first files of the class do not say it. */
const further = (config: Config): number => numberIn(config, 'mtp_num_hidden_layers') || 1

const furtherNames: Readonly<Record<string, string>> = {
  fc: 'eh_proj',
  pre_fc_norm_embedding: 'enorm',
  pre_fc_norm_hidden: 'hnorm',
  norm: 'shared_head.norm',
}

/** Those layers stand beside the others, under names of their own. */
export function named(name: string, config: Config): string {
  const main = num(config, 'num_hidden_layers')
  const [, own, rest] = /^(?:model\.)?mtp\.(?:layers\.(\d+)\.)?(.+)$/.exec(name) ?? []
  if (rest === undefined) return name
  if (own !== undefined) return `model.layers.${main + Number(own)}.${rest}`
  const [, stem, end] = /^(\w+)\.(\w+)$/.exec(rest) ?? []
  const known = stem === undefined ? undefined : furtherNames[stem]
  return known === undefined ? name : `model.layers.${main}.${known}.${end}`
}

const { [`${layer}.post_attention_layernorm`]: _, ...sparse } = qwen3Moe.tensors

export const qwen3Next: Family = {
  ...qwen3Moe,
  architecture: 'qwen3next',
  classes: ['Qwen3NextForCausalLM'],
  configs: {
    qwen3_next: {
      max_position_embeddings: 32768,
      max_length: 20,
      hidden_size: 2048,
      intermediate_size: 5632,
      num_hidden_layers: 48,
      num_attention_heads: 16,
      num_key_value_heads: 2,
      head_dim: 256,
      rms_norm_eps: 1e-6,
      rope_theta: 10000,
      rope_scaling: null,
      partial_rotary_factor: 0.25,
      linear_conv_kernel_dim: 4,
      linear_key_head_dim: 128,
      linear_value_head_dim: 128,
      linear_num_key_heads: 16,
      linear_num_value_heads: 32,
      moe_intermediate_size: 512,
      shared_expert_intermediate_size: 512,
      num_experts_per_tok: 10,
      num_experts: 512,
      vocab_size: 151936,
    },
  },
  layers: (config) => num(config, 'num_hidden_layers') + further(config),
  unsettle: (config) => ({ ...config, num_hidden_layers: num(config, 'num_hidden_layers') - further(config) }),
  needsFurtherLayers: true,
  named,
  keys: [
    ...qwen3Moe.keys,
    {
      key: 'nextn_predict_layers',
      type: 'u32',
      value: ({ config }) => further(config),
      back: (value) => ({ mtp_num_hidden_layers: value }),
    },
    { key: 'ssm.conv_kernel', type: 'u32', from: ['linear_conv_kernel_dim'], required: true },
    { key: 'ssm.state_size', type: 'u32', from: ['linear_key_head_dim'], required: true },
    { key: 'ssm.group_count', type: 'u32', from: ['linear_num_key_heads'], required: true },
    { key: 'ssm.time_step_rank', type: 'u32', from: ['linear_num_value_heads'], required: true },
    {
      key: 'ssm.inner_size',
      type: 'u32',
      value: ({ config }) => num(config, 'linear_value_head_dim') * num(config, 'linear_num_value_heads'),
      back: (value, config) => ({ linear_value_head_dim: Number(value) / num(config, 'linear_num_value_heads') }),
      required: true,
    },
    {
      key: 'full_attention_interval',
      type: 'u32',
      from: ['full_attention_interval'],
      value: ({ config }) => numberIn(config, 'full_attention_interval') ?? 4,
    },
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) =>
        Math.trunc(
          (numberIn(config, 'head_dim') ?? headSize(config)) * (numberIn(rope, 'partial_rotary_factor') ?? 0.25),
        ),
      back: (value, config) => ({
        partial_rotary_factor: Number(value) / (numberIn(config, 'head_dim') ?? headSize(config)),
      }),
      required: true,
    },
  ],
  tensors: {
    ...each(
      { ...sparse, [`${layer}.post_attention_layernorm`]: 'blk.{n}.post_attention_norm' } satisfies NameTable,
      'plus-one',
      (name) => name.endsWith('norm'),
    ),
    [`${linear}.in_proj_qkvz.weight`]: {
      to: ['blk.{n}.attn_qkv.weight', 'blk.{n}.attn_gate.weight'],
      by: 'split-qkvz',
    },
    [`${linear}.in_proj_ba`]: 'blk.{n}.ssm_ba',
    [`${linear}.conv1d.weight`]: { to: 'blk.{n}.ssm_conv1d.weight', by: 'squeeze' },
    [`${linear}.dt_bias`]: 'blk.{n}.ssm_dt.bias',
    [`${linear}.A_log`]: { to: 'blk.{n}.ssm_a', by: 'minus-exp' },
    [`${linear}.norm`]: 'blk.{n}.ssm_norm',
    [`${linear}.out_proj`]: 'blk.{n}.ssm_out',
    [`${layer}.eh_proj`]: 'blk.{n}.nextn.eh_proj',
    [`${layer}.enorm`]: { to: 'blk.{n}.nextn.enorm', by: 'plus-one' },
    [`${layer}.hnorm`]: { to: 'blk.{n}.nextn.hnorm', by: 'plus-one' },
    [`${layer}.shared_head.norm`]: { to: 'blk.{n}.nextn.shared_head_norm', by: 'plus-one' },
  },
  mayLack: /\.(attn_\w+|post_norm)\./,
}
