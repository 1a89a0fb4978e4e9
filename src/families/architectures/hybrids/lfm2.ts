// LFM2: short convolutions, with attention in some layers.
import { maxOf, num, numberIn } from '../../facts.js'
import type { Config, Default, Family, KeyRule, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'

const layer = 'model.layers.{n}'

const names: NameTable = {
  'model.embed_tokens': 'token_embd',
  lm_head: 'output',
  'model.embedding_norm': 'token_embd_norm',
  [`${layer}.operator_norm`]: 'blk.{n}.attn_norm',
  [`${layer}.ffn_norm`]: 'blk.{n}.ffn_norm',
  [`${layer}.self_attn.q_proj`]: 'blk.{n}.attn_q',
  [`${layer}.self_attn.k_proj`]: 'blk.{n}.attn_k',
  [`${layer}.self_attn.v_proj`]: 'blk.{n}.attn_v',
  [`${layer}.self_attn.out_proj`]: 'blk.{n}.attn_output',
  [`${layer}.self_attn.q_layernorm`]: 'blk.{n}.attn_q_norm',
  [`${layer}.self_attn.k_layernorm`]: 'blk.{n}.attn_k_norm',
  [`${layer}.conv.conv`]: { to: 'blk.{n}.shortconv.conv', by: 'squeeze' },
  [`${layer}.conv.in_proj`]: 'blk.{n}.shortconv.in_proj',
  [`${layer}.conv.out_proj`]: 'blk.{n}.shortconv.out_proj',
  [`${layer}.feed_forward.w1`]: 'blk.{n}.ffn_gate',
  [`${layer}.feed_forward.w3`]: 'blk.{n}.ffn_up',
  [`${layer}.feed_forward.w2`]: 'blk.{n}.ffn_down',
}

/** Zero where a layer has no attention. */
const kvHeads: KeyRule = {
  key: 'attention.head_count_kv',
  type: 'i32s',
  value: ({ config }) => {
    const types = Array.isArray(config.layer_types) ? config.layer_types : []
    return types.map((type) => (type === 'full_attention' ? config.num_key_value_heads : 0))
  },
  back: (value) =>
    Array.isArray(value)
      ? {
          num_key_value_heads: maxOf(value),
          layer_types: value.map((heads) => (heads > 0 ? 'full_attention' : 'conv')),
        }
      : {},
}

const keys: readonly KeyRule[] = commonKeys.map((rule) => (rule.key === 'attention.head_count_kv' ? kvHeads : rule))

const convolution: KeyRule = { key: 'shortconv.l_cache', type: 'u32', from: ['conv_L_cache'], required: true }

/** The size that layers have follows from the one that is stated. */
function feedForward(config: Config): number {
  const size = num(config, 'block_ff_dim', 'intermediate_size')
  if (!config.block_auto_adjust_ff_dim) return size
  const factor = numberIn(config, 'block_ffn_dim_multiplier')
  const multiple = num(config, 'block_multiple_of')
  const two = Math.trunc((2 * size) / 3)
  return multiple * Math.ceil((factor === undefined ? two : Math.trunc(factor * two)) / multiple)
}

const config: Readonly<Record<string, Default>> = {
  num_hidden_layers: 32,
  max_position_embeddings: 128000,
  max_length: 20,
  hidden_size: 2560,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  norm_eps: 1e-5,
  rope_theta: 1e6,
  conv_L_cache: 3,
  vocab_size: 65536,
}

/** Which layers have attention: a list of types, or of the numbers of those that have. */
function settleLayers(config: Config): Config {
  if (Array.isArray(config.layer_types)) return config
  const layers = Math.min(num(config, 'num_hidden_layers') || 0, 10_000)
  const full = Array.isArray(config.full_attn_idxs) ? config.full_attn_idxs : undefined
  const types = Array.from({ length: layers }, (_, i) => (!full || full.includes(i) ? 'full_attention' : 'conv'))
  return { ...config, layer_types: types }
}

export const lfm2: Family = {
  architecture: 'lfm2',
  classes: ['Lfm2ForCausalLM', 'LFM2ForCausalLM'],
  configs: {
    lfm2: {
      ...config,
      intermediate_size: 12288,
      block_multiple_of: 256,
      block_ffn_dim_multiplier: 1,
      block_auto_adjust_ff_dim: true,
    },
  },
  settle: (stated) => {
    // An older name for the same.
    const size = stated.block_ff_dim ?? stated.intermediate_size
    return settleLayers({ ...stated, intermediate_size: size })
  },
  keys: [
    ...keys,
    key.vocabulary,
    convolution,
    { key: 'attention.layer_norm_rms_epsilon', type: 'f32', from: ['norm_eps'], required: true },
    {
      key: 'feed_forward_length',
      type: 'u32',
      value: ({ config }) => feedForward(config),
      back: (value) => ({ intermediate_size: value, block_auto_adjust_ff_dim: false }),
    },
  ],
  tensors: names,
  mayLack: /\.attn_(q|k|v|output|q_norm|k_norm)\./,
  tokenizer: 'bpe',
}

export const lfm2Moe: Family = {
  architecture: 'lfm2moe',
  classes: ['Lfm2MoeForCausalLM'],
  configs: { lfm2_moe: {} },
  settings: [
    'num_hidden_layers',
    'max_position_embeddings',
    'hidden_size',
    'intermediate_size',
    'num_attention_heads',
    'num_experts',
    'num_experts_per_tok',
    'norm_eps',
    'rope_theta',
  ],
  settle: settleLayers,
  keys: [
    ...keys,
    { ...key.expertFeedForward, required: true },
    { key: 'leading_dense_block_count', type: 'u32', from: ['num_dense_layers'], required: true },
    { key: 'expert_gating_func', type: 'u32', value: () => 2, back: () => ({}) },
    key.vocabulary,
    convolution,
  ],
  tensors: {
    ...names,
    [`${layer}.feed_forward.gate`]: 'blk.{n}.ffn_gate_inp',
    [`${layer}.feed_forward.expert_bias`]: 'blk.{n}.exp_probs_b.bias',
    [`${layer}.feed_forward.experts.{e}.w1`]: { to: 'blk.{n}.ffn_gate_exps', stack: true },
    [`${layer}.feed_forward.experts.{e}.w2`]: { to: 'blk.{n}.ffn_down_exps', stack: true },
    [`${layer}.feed_forward.experts.{e}.w3`]: { to: 'blk.{n}.ffn_up_exps', stack: true },
  },
  mayLack: /\.attn_(q|k|v|output|q_norm|k_norm)\./,
  tokenizer: 'bpe',
}
