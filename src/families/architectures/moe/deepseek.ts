// DeepSeek, and dots.llm1, which is built like it. In V2 and V3 attention works on a compressed form of k and v, which every head expands with a matrix of its own; llama.cpp wants
// the parts of k and v in two tensors. Experts follow a few dense layers.
import { shortestF32 } from '../../../dtypes/shortest.js'
import { headSize, heads, isObject, num } from '../../facts.js'
import type { Default, Family, KeyRule, NameTable } from '../../family.js'
import { furtherNames } from '../decoders/glm.js'
import { anyFurtherLayers, countsFurtherLayers } from '../further-layers.js'
import { commonKeys, decoderSettings, key } from '../shared-keys.js'
import {
  attentionNames,
  expertNames,
  gatedMlpNames,
  headNormNames,
  outerNames,
  permutedAttentionNames,
  preNormNames,
  sharedExpertsNames,
} from '../shared-names.js'

const config: Readonly<Record<string, Default>> = {
  max_length: 20,
  rope_theta: 10000,
  rope_scaling: null,
  rms_norm_eps: 1e-6,
  kv_lora_rank: 512,
  q_lora_rank: 1536,
  qk_nope_head_dim: 128,
  qk_rope_head_dim: 64,
  v_head_dim: 128,
}

const compressedHeads: KeyRule = {
  key: 'attention.head_count_kv',
  type: 'u32',
  value: () => 1,
  back: (_, config) => ({ num_key_value_heads: config.num_attention_heads }),
}

const attention = 'model.layers.{n}.self_attn'

export const deepseek2: Family = {
  architecture: 'deepseek2',
  classes: ['DeepseekV2ForCausalLM', 'DeepseekV3ForCausalLM'],
  tells: { DeepseekV3ForCausalLM: /\.exp_probs_b\./ },
  configs: {
    deepseek_v2: {
      ...config,
      num_hidden_layers: 32,
      max_position_embeddings: 2048,
      hidden_size: 4096,
      intermediate_size: 11008,
      num_attention_heads: 32,
      num_key_value_heads: heads,
      n_routed_experts: 64,
      num_experts_per_tok: null,
      n_group: null,
      topk_group: null,
      moe_intermediate_size: 1407,
      routed_scaling_factor: 1,
      norm_topk_prob: false,
      first_k_dense_replace: 0,
      n_shared_experts: 2,
      vocab_size: 32000,
    },
    deepseek_v3: {
      ...config,
      num_hidden_layers: 61,
      max_position_embeddings: 4096,
      hidden_size: 7168,
      intermediate_size: 18432,
      num_attention_heads: 128,
      num_key_value_heads: [128, heads],
      n_routed_experts: 256,
      num_experts_per_tok: 8,
      n_group: 8,
      topk_group: 4,
      moe_intermediate_size: 2048,
      routed_scaling_factor: 2.5,
      norm_topk_prob: true,
      first_k_dense_replace: 3,
      n_shared_experts: 1,
      vocab_size: 129280,
    },
  },
  settle: (stated) => ({ head_dim: stated.qk_rope_head_dim, ...stated }),
  keys: [
    // All heads share one compressed k and v.
    ...commonKeys.map((rule) => (rule.key === 'attention.head_count_kv' ? compressedHeads : rule)),
    {
      key: 'leading_dense_block_count',
      type: 'u32',
      from: ['first_k_dense_replace'],
      value: ({ config, layers }) => config.first_k_dense_replace ?? (config.n_routed_experts == null ? layers : 0),
    },
    key.vocabulary,
    { key: 'attention.q_lora_rank', type: 'u32', from: ['q_lora_rank'] },
    { key: 'attention.kv_lora_rank', type: 'u32', from: ['kv_lora_rank'], required: true },
    {
      key: 'attention.key_length',
      type: 'u32',
      value: ({ config }) => num(config, 'kv_lora_rank') + num(config, 'qk_rope_head_dim'),
      required: true,
    },
    { key: 'attention.value_length', type: 'u32', from: ['kv_lora_rank'] },
    {
      key: 'attention.key_length_mla',
      type: 'u32',
      value: ({ config }) => num(config, 'qk_nope_head_dim') + num(config, 'qk_rope_head_dim'),
      back: (value, config) => ({ qk_nope_head_dim: Number(value) - num(config, 'qk_rope_head_dim') }),
      required: true,
    },
    { key: 'attention.value_length_mla', type: 'u32', from: ['v_head_dim'], required: true },
    {
      key: 'expert_feed_forward_length',
      type: 'u32',
      from: ['moe_intermediate_size', 'intermediate_size'],
      required: true,
    },
    { key: 'expert_count', type: 'u32', from: ['n_routed_experts'] },
    {
      key: 'expert_shared_count',
      type: 'u32',
      from: ['n_shared_experts'],
      value: ({ config }) => config.n_shared_experts ?? 0,
    },
    { key: 'expert_weights_scale', type: 'f32', from: ['routed_scaling_factor'] },
    {
      key: 'expert_weights_norm',
      type: 'bool',
      from: ['norm_topk_prob'],
      value: ({ config }) => config.norm_topk_prob || undefined,
      absent: { norm_topk_prob: false },
    },
    { key: 'rope.dimension_count', type: 'u32', from: ['qk_rope_head_dim'], required: true },
    {
      key: 'rope.scaling.yarn_log_multiplier',
      type: 'f32',
      value: ({ rope }) => (typeof rope.mscale_all_dim === 'number' ? 0.1 * rope.mscale_all_dim : undefined),
      back: (value, { rope_scaling: known }) => {
        const scale = shortestF32(Number(value) / 0.1)
        return { rope_scaling: { ...(isObject(known) && known), mscale: scale, mscale_all_dim: scale } }
      },
    },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    [`${attention}.q_proj`]: 'blk.{n}.attn_q',
    [`${attention}.q_a_proj`]: 'blk.{n}.attn_q_a',
    [`${attention}.q_a_layernorm`]: 'blk.{n}.attn_q_a_norm',
    [`${attention}.q_b_proj`]: 'blk.{n}.attn_q_b',
    [`${attention}.kv_a_proj_with_mqa`]: 'blk.{n}.attn_kv_a_mqa',
    [`${attention}.kv_a_layernorm`]: 'blk.{n}.attn_kv_a_norm',
    [`${attention}.kv_b_proj`]: { to: ['blk.{n}.attn_k_b', 'blk.{n}.attn_v_b'], by: 'split-kv-b' },
    [`${attention}.o_proj`]: 'blk.{n}.attn_output',
    ...gatedMlpNames,
    ...expertNames,
    'model.layers.{n}.mlp.gate.e_score_correction_bias': 'blk.{n}.exp_probs_b.bias',
    ...sharedExpertsNames,
  },
  dropsExtraLayers: true,
  dropsTiedOutput: true,
  tokenizer: 'bpe',
}

/** GLM-4.7-Flash: the attention of DeepSeek, and layers at the end that predict further tokens. */
export const glm4MoeLite: Family = {
  ...deepseek2,
  classes: ['Glm4MoeLiteForCausalLM'],
  tells: {},
  tellingPre: 'glm4',
  configs: { glm4_moe_lite: {} },
  settings: [...decoderSettings, 'n_routed_experts', 'num_experts_per_tok', 'moe_intermediate_size'],
  ...countsFurtherLayers,
  settle: (config) => config,
  keys: [...deepseek2.keys, anyFurtherLayers],
  tensors: { ...deepseek2.tensors, ...furtherNames },
  tokenizer: 'glm-moe',
}

const sparseNames: NameTable = {
  ...outerNames,
  ...preNormNames,
  ...gatedMlpNames,
  ...expertNames,
  ...sharedExpertsNames,
}

const leadingDense: KeyRule = {
  key: 'leading_dense_block_count',
  type: 'u32',
  from: ['first_k_dense_replace'],
  required: true,
}
const sharedCount: KeyRule = { key: 'expert_shared_count', type: 'u32', from: ['n_shared_experts'], required: true }

/** The first DeepSeek with experts: Llama's attention. */
export const deepseek: Family = {
  architecture: 'deepseek',
  classes: ['DeepseekForCausalLM'],
  configs: { deepseek: {} },
  settings: [...decoderSettings, 'n_routed_experts', 'num_experts_per_tok'],
  keys: [
    ...commonKeys,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config }) => config.head_dim ?? headSize(config),
      required: true,
    },
    key.noRopeScaling,
    leadingDense,
    key.vocabulary,
    { ...key.expertFeedForward, required: true },
    { key: 'expert_weights_scale', type: 'f32', value: () => 1 },
    { key: 'expert_count', type: 'u32', from: ['n_routed_experts'], required: true },
    sharedCount,
  ],
  tensors: { ...sparseNames, ...permutedAttentionNames },
  tokenizer: 'sentencepiece-or-bpe',
}

export const dots1: Family = {
  architecture: 'dots1',
  classes: ['Dots1ForCausalLM'],
  configs: {
    dots1: {
      num_hidden_layers: 62,
      max_position_embeddings: 2048,
      max_length: 20,
      hidden_size: 4608,
      intermediate_size: 10944,
      moe_intermediate_size: 1408,
      num_attention_heads: 32,
      num_key_value_heads: [32, heads],
      n_shared_experts: null,
      n_routed_experts: null,
      num_experts_per_tok: null,
      n_group: 1,
      topk_group: 1,
      first_k_dense_replace: 0,
      norm_topk_prob: false,
      routed_scaling_factor: 1,
      rms_norm_eps: 1e-6,
      rope_theta: 10000,
      rope_scaling: null,
      vocab_size: 152064,
    },
  },
  keys: [
    ...commonKeys,
    key.expertFeedForward,
    key.sharedExpertFeedForward,
    leadingDense,
    sharedCount,
    { key: 'expert_weights_scale', type: 'f32', from: ['routed_scaling_factor'], required: true },
    { key: 'expert_weights_norm', type: 'bool', from: ['norm_topk_prob'], required: true },
  ],
  tensors: {
    ...sparseNames,
    ...attentionNames,
    ...headNormNames,
    'model.layers.{n}.mlp.gate.e_score_correction_bias': 'blk.{n}.exp_probs_b.bias',
  },
  tokenizer: 'bpe',
}
