// Jamba: layers of Mamba, with attention in some, and experts in others.
import { heads, num, numberIn } from '../../facts.js'
import type { Config, Family } from '../../family.js'
import { key } from '../shared-keys.js'
import { attentionNames, outerNames } from '../shared-names.js'

const layer = 'model.layers.{n}'
const mamba = `${layer}.mamba`
const experts = `${layer}.feed_forward.experts.{e}`

/** Heads of k and v in layers with attention, zero in others. */
function kvHeads(config: Config, layers: number): readonly number[] {
  const [offset, period] = [num(config, 'attn_layer_offset'), num(config, 'attn_layer_period')]
  const count = num(config, 'num_key_value_heads')
  return Array.from({ length: layers }, (_, i) => (i >= offset && (i - offset) % period === 0 ? count : 0))
}

/** In layers that have no experts, checkpoints call the only one the first. */
function named(name: string, config: Config): string {
  const clean = name.replace('.moe.', '.feed_forward.')
  const at = Number(/^model\.layers\.(\d+)\./.exec(clean)?.[1] ?? Number.NaN)
  const [offset, period] = [num(config, 'expert_layer_offset'), num(config, 'expert_layer_period')]
  const hasExperts = at >= offset && (at - offset) % period === 0
  return Number.isNaN(at) || hasExperts ? clean : clean.replace('.experts.0.', '.')
}

export const jamba: Family = {
  architecture: 'jamba',
  classes: ['JambaForCausalLM'],
  configs: {
    jamba: {
      num_hidden_layers: 32,
      max_position_embeddings: 262144,
      max_length: 20,
      hidden_size: 4096,
      intermediate_size: 14336,
      num_attention_heads: 32,
      num_key_value_heads: [8, heads],
      rms_norm_eps: 1e-6,
      num_experts: 16,
      num_experts_per_tok: 2,
      expert_layer_period: 2,
      expert_layer_offset: 1,
      attn_layer_period: 8,
      attn_layer_offset: 4,
      mamba_d_state: 16,
      mamba_d_conv: 4,
      mamba_expand: 2,
      mamba_dt_rank: (config: Config) => Math.ceil(num(config, 'hidden_size') / 16),
      vocab_size: 65536,
    },
  },
  settle: (config) =>
    config.mamba_dt_rank === 'auto' ? { ...config, mamba_dt_rank: Math.ceil(num(config, 'hidden_size') / 16) } : config,
  keys: [
    key.blocks,
    { key: 'context_length', type: 'u32', from: ['max_position_embeddings', 'n_ctx'], required: true },
    { key: 'embedding_length', type: 'u32', from: ['hidden_size', 'mamba_d_model'], required: true },
    key.feedForward,
    key.heads,
    {
      key: 'attention.head_count_kv',
      type: 'i32s',
      value: ({ config, layers }) => kvHeads(config, layers),
      back: (value) => attentionLayers(value),
    },
    { key: 'ssm.conv_kernel', type: 'u32', from: ['mamba_d_conv'], value: ({ config }) => config.mamba_d_conv || 4 },
    {
      key: 'ssm.inner_size',
      type: 'u32',
      value: ({ config }) => num(config, 'mamba_expand') * num(config, 'hidden_size', 'mamba_d_model'),
      back: (value, config) => ({ mamba_expand: Number(value) / num(config, 'hidden_size') }),
      required: true,
    },
    { key: 'ssm.state_size', type: 'u32', from: ['mamba_d_state'], value: ({ config }) => config.mamba_d_state || 16 },
    { key: 'ssm.time_step_rank', type: 'u32', from: ['mamba_dt_rank'] },
    {
      key: 'attention.layer_norm_rms_epsilon',
      type: 'f32',
      from: ['rms_norm_eps'],
      value: ({ config }) => numberIn(config, 'layer_norm_epsilon', 'rms_norm_eps') || 1e-6,
    },
    { key: 'expert_count', type: 'u32', from: ['num_local_experts', 'num_experts'], required: true },
    { key: 'expert_used_count', type: 'u32', from: ['num_experts_per_tok', 'num_experts_per_token'], required: true },
    key.fileType,
  ],
  tensors: {
    'model.embed_tokens': outerNames['model.embed_tokens']!,
    lm_head: 'output',
    'model.final_layernorm': 'output_norm',
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.pre_ff_layernorm`]: 'blk.{n}.ffn_norm',
    ...attentionNames,
    [`${mamba}.in_proj`]: 'blk.{n}.ssm_in',
    [`${mamba}.conv1d.weight`]: { to: 'blk.{n}.ssm_conv1d.weight', by: 'squeeze' },
    [`${mamba}.conv1d`]: 'blk.{n}.ssm_conv1d',
    [`${mamba}.x_proj`]: 'blk.{n}.ssm_x',
    [`${mamba}.dt_proj`]: 'blk.{n}.ssm_dt',
    [`${mamba}.dt_layernorm`]: 'blk.{n}.ssm_dt_norm',
    [`${mamba}.b_layernorm`]: 'blk.{n}.ssm_b_norm',
    [`${mamba}.c_layernorm`]: 'blk.{n}.ssm_c_norm',
    [`${mamba}.A_log`]: { to: 'blk.{n}.ssm_a', by: 'minus-exp' },
    [`${mamba}.D`]: 'blk.{n}.ssm_d',
    [`${mamba}.out_proj`]: 'blk.{n}.ssm_out',
    [`${layer}.feed_forward.gate_proj`]: 'blk.{n}.ffn_gate',
    [`${layer}.feed_forward.up_proj`]: 'blk.{n}.ffn_up',
    [`${layer}.feed_forward.down_proj`]: 'blk.{n}.ffn_down',
    [`${layer}.feed_forward.router`]: 'blk.{n}.ffn_gate_inp',
    [`${experts}.down_proj`]: { to: 'blk.{n}.ffn_down_exps', stack: true },
    [`${experts}.gate_proj`]: { to: 'blk.{n}.ffn_gate_exps', stack: true },
    [`${experts}.up_proj`]: { to: 'blk.{n}.ffn_up_exps', stack: true },
  },
  named,
  mayLack: /\.attn_(q|k|v|output)\./,
  tokenizer: 'jamba',
}

function attentionLayers(value: unknown): Config {
  if (!Array.isArray(value)) return {}
  const places = value.flatMap((heads, i) => (heads > 0 ? [i] : []))
  const [first = 0, second] = places
  return {
    num_key_value_heads: value[first],
    attn_layer_offset: first,
    attn_layer_period: second === undefined ? Math.max(value.length, 1) : second - first,
  }
}
