// Phi 2 to 4. Phi 3 keeps q, k and v in one tensor, and gate and up in another; so does llama.cpp.
import { configWords } from '../../../content/config-words.js'
import { heads, isObject, num } from '../../facts.js'
import type { Config, Family } from '../../family.js'
import { fullRope, key } from '../shared-keys.js'
import { attentionNames, outerNames, preNormNames } from '../shared-names.js'

const layer = 'model.layers.{n}'

/** How many elements of a head are rotated. */
const rotated = (config: Config, share: number): number =>
  Math.floor(Math.trunc(share * num(config, 'hidden_size', 'n_embd')) / num(config, 'num_attention_heads', 'n_head'))

const shareRotated = (value: unknown, config: Config): Config => ({
  partial_rotary_factor: (Number(value) * num(config, 'num_attention_heads')) / num(config, 'hidden_size'),
})

export const phi2: Family = {
  architecture: 'phi2',
  classes: ['PhiForCausalLM'],
  configs: {
    phi: {
      num_hidden_layers: 24,
      max_position_embeddings: 2048,
      max_length: 20,
      hidden_size: 2048,
      intermediate_size: 8192,
      num_attention_heads: 32,
      num_key_value_heads: heads,
      rope_theta: 10000,
      rope_scaling: null,
      partial_rotary_factor: 0.5,
      layer_norm_eps: 1e-5,
      vocab_size: 51200,
    },
  },
  keys: [
    { ...key.context, from: ['n_positions', 'max_position_embeddings'] },
    { ...key.embedding, from: ['hidden_size', 'n_embd'] },
    {
      key: 'feed_forward_length',
      type: 'u32',
      from: ['intermediate_size'],
      value: ({ config }) => 4 * num(config, 'hidden_size', 'n_embd'),
    },
    key.blocks,
    { ...key.heads, from: ['num_attention_heads', 'n_head'] },
    { key: 'attention.head_count_kv', type: 'u32', from: ['num_attention_heads', 'n_head'] },
    { key: 'attention.layer_norm_epsilon', type: 'f32', from: ['layer_norm_epsilon', 'layer_norm_eps'] },
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) => rotated(config, num(rope, 'partial_rotary_factor')),
      back: shareRotated,
      required: true,
    },
    key.fileType,
    { key: 'tokenizer.ggml.add_bos_token', type: 'bool', value: () => false },
  ],
  tensors: {
    'model.embed_tokens': 'token_embd',
    lm_head: 'output',
    'model.final_layernorm': 'output_norm',
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.self_attn.q_proj`]: 'blk.{n}.attn_q',
    [`${layer}.self_attn.k_proj`]: 'blk.{n}.attn_k',
    [`${layer}.self_attn.v_proj`]: 'blk.{n}.attn_v',
    [`${layer}.self_attn.dense`]: 'blk.{n}.attn_output',
    [`${layer}.mlp.fc1`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.fc2`]: 'blk.{n}.ffn_down',
  },
  tokenizer: 'bpe',
}

/** What older files call su or yarn is longrope since. */
function settleRope(config: Config): Config {
  const { rope_scaling: scaling } = config
  if (!isObject(scaling) || (scaling.type !== 'su' && scaling.type !== 'yarn')) return config
  return { ...config, rope_scaling: { ...scaling, type: 'longrope' } }
}

export const phi3: Family = {
  architecture: 'phi3',
  classes: ['Phi3ForCausalLM'],
  configs: {
    phi3: {
      num_hidden_layers: 32,
      max_position_embeddings: 4096,
      max_length: 20,
      hidden_size: 3072,
      intermediate_size: 8192,
      num_attention_heads: 32,
      num_key_value_heads: heads,
      rope_theta: 10000,
      rope_scaling: null,
      partial_rotary_factor: 1,
      original_max_position_embeddings: 4096,
      rms_norm_eps: 1e-5,
      sliding_window: null,
      vocab_size: 32064,
    },
  },
  settle: settleRope,
  keys: [
    { ...key.context, from: ['n_positions', 'max_position_embeddings'] },
    {
      key: 'rope.scaling.original_context_length',
      type: 'u32',
      from: ['original_max_position_embeddings'],
      value: ({ rope }) => rope.original_max_position_embeddings,
      required: true,
    },
    { ...key.embedding, from: ['hidden_size', 'n_embd'] },
    key.feedForward,
    key.blocks,
    { ...key.heads, from: ['num_attention_heads', 'n_head'] },
    { ...key.kvHeads, from: ['num_key_value_heads', 'n_head_kv'] },
    key.rmsEpsilon,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) => phi3RopeSize(config, rope),
      back: shareRotated,
      required: true,
    },
    {
      key: 'rope.freq_base',
      type: 'f32',
      from: ['rope_theta'],
      value: ({ rope }) => fullRope(rope).rope_theta,
      required: true,
    },
    key.fileType,
    // Zero sets Phi 4 apart from the others.
    {
      key: 'attention.sliding_window',
      type: 'u32',
      value: ({ config }) => config.sliding_window ?? 0,
      back: (value) => ({ sliding_window: value || null }),
    },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    [`${layer}.self_attn.qkv_proj`]: 'blk.{n}.attn_qkv',
    [`${layer}.self_attn.o_proj`]: 'blk.{n}.attn_output',
    [`${layer}.mlp.gate_up_proj`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.down_proj`]: 'blk.{n}.ffn_down',
  },
  computed: 'rope-factors',
  tokenizer: 'phi-3',
}

export const phi3RopeSize = (config: Config, rope: Config): number =>
  rotated(config, 'partial_rotary_factor' in rope ? num(rope, 'partial_rotary_factor') : 1)

const moe = `${layer}.block_sparse_moe`

export const phiMoe: Family = {
  ...phi3,
  architecture: 'phimoe',
  classes: ['PhiMoEForCausalLM'],
  others: { where: /^output\.bias$/, settings: { lm_head_bias: true } },
  configs: {
    phimoe: {
      ...phi3.configs.phi3,
      max_position_embeddings: 131072,
      hidden_size: 4096,
      intermediate_size: 6400,
      num_key_value_heads: [8, heads],
      rope_theta: 1e6,
      num_local_experts: 16,
      num_experts_per_tok: 2,
    },
  },
  keys: [
    ...phi3.keys,
    { key: 'expert_used_count', type: 'u32', from: configWords.usedExperts, required: true },
    { key: 'expert_count', type: 'u32', from: configWords.experts, required: true },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    [`${moe}.gate`]: 'blk.{n}.ffn_gate_inp',
    [`${moe}.experts.{e}.w1`]: { to: 'blk.{n}.ffn_gate_exps', stack: true },
    [`${moe}.experts.{e}.w2`]: { to: 'blk.{n}.ffn_down_exps', stack: true },
    [`${moe}.experts.{e}.w3`]: { to: 'blk.{n}.ffn_up_exps', stack: true },
  },
}
