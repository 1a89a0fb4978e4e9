// ChatGLM and GLM-4, with gate and up in one matrix, and GLM-4.5, with experts.

import { headSize, heads, isObject, num, numberIn } from '../../facts.js'
import type { Config, Default, Family, KeyRule, NameTable } from '../../family.js'
import { countsFurtherLayers, furtherLayers } from '../further-layers.js'
import { commonKeys, key } from '../shared-keys.js'
import {
  attentionNames,
  expertNames,
  gatedMlpNames,
  headNormNames,
  outerNames,
  preNormNames,
  sharedExpertsNames,
} from '../shared-names.js'

const layer = 'model.layers.{n}'

const partialRope: KeyRule = {
  key: 'rope.dimension_count',
  type: 'u32',
  value: ({ config, rope }) =>
    Math.trunc((numberIn(config, 'head_dim') ?? headSize(config)) * (numberIn(rope, 'partial_rotary_factor') ?? 0.5)),
  back: (value, config) => ({
    partial_rotary_factor: Number(value) / (numberIn(config, 'head_dim') ?? headSize(config)),
  }),
  required: true,
}

const glm4vConfig: Readonly<Record<string, Default>> = {
  num_hidden_layers: 40,
  max_position_embeddings: 32768,
  max_length: 20,
  hidden_size: 4096,
  intermediate_size: 13696,
  num_attention_heads: 32,
  num_key_value_heads: [2, heads],
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  rope_scaling: null,
  vocab_size: 151552,
}

export const glm4: Family = {
  architecture: 'glm4',
  classes: ['Glm4ForCausalLM', 'Glm4vForConditionalGeneration'],
  configs: {
    glm4: {
      num_hidden_layers: 40,
      max_position_embeddings: 131072,
      max_length: 20,
      hidden_size: 4096,
      intermediate_size: 13696,
      num_attention_heads: 32,
      num_key_value_heads: 2,
      head_dim: 128,
      partial_rotary_factor: 0.5,
      rms_norm_eps: 1.5625e-7,
      rope_theta: 10000,
      vocab_size: 151552,
    },
    glm4v_text: glm4vConfig,
    glm4v: glm4vConfig,
  },
  keys: [...commonKeys, partialRope],
  tensors: {
    ...outerNames,
    ...attentionNames,
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.post_self_attn_layernorm`]: 'blk.{n}.post_attention_norm',
    [`${layer}.post_attention_layernorm`]: 'blk.{n}.ffn_norm',
    [`${layer}.post_mlp_layernorm`]: 'blk.{n}.post_ffw_norm',
    [`${layer}.mlp.gate_up_proj`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.down_proj`]: 'blk.{n}.ffn_down',
  },
  tokenizer: 'glm',
}

const hasSections = (config: Config): boolean => {
  const inner = isObject(config.text_config) ? config.text_config : {}
  const { rope_parameters, rope_scaling } = { ...config, ...inner }
  const rope = rope_parameters ?? rope_scaling
  return isObject(rope) && 'mrope_section' in rope
}

/** The text of GLM-4.1V: where RoPE has sections, llama.cpp rotates halves of the rotated part of a head, not neighbours. */
export const glm4WithSections: Family = {
  ...glm4,
  isMeant: hasSections,
  tellingKey: 'rope.dimension_sections',
  keys: glm4.keys.map((rule) =>
    rule.key === 'rope.dimension_sections'
      ? {
          ...rule,
          back: (value) => ({ rope_scaling: { rope_type: 'default', mrope_section: value } }),
        }
      : rule,
  ),
  tensors: {
    ...glm4.tensors,
    [`${layer}.self_attn.q_proj`]: { to: 'blk.{n}.attn_q', by: 'rotated-halves' },
    [`${layer}.self_attn.k_proj`]: { to: 'blk.{n}.attn_k', by: 'rotated-kv-halves' },
  },
}

/** Layers that predict further tokens. */
export const furtherNames: NameTable = {
  [`${layer}.eh_proj`]: 'blk.{n}.nextn.eh_proj',
  [`${layer}.embed_tokens`]: 'blk.{n}.nextn.embed_tokens',
  [`${layer}.enorm`]: 'blk.{n}.nextn.enorm',
  [`${layer}.hnorm`]: 'blk.{n}.nextn.hnorm',
  [`${layer}.shared_head.head`]: 'blk.{n}.nextn.shared_head_head',
  [`${layer}.shared_head.norm`]: 'blk.{n}.nextn.shared_head_norm',
}

/** GLM-4.5 and later: experts behind a few dense layers, and layers at the end that predict several tokens at once. */
export const glm4Moe: Family = {
  architecture: 'glm4moe',
  classes: ['Glm4MoeForCausalLM'],
  configs: {
    glm4_moe: {
      num_hidden_layers: 46,
      max_position_embeddings: 131072,
      max_length: 20,
      hidden_size: 4096,
      intermediate_size: 10944,
      num_attention_heads: 96,
      num_key_value_heads: 8,
      partial_rotary_factor: 0.5,
      rms_norm_eps: 1e-5,
      rope_theta: 10000,
      rope_scaling: null,
      moe_intermediate_size: 1408,
      num_experts_per_tok: 8,
      n_group: 1,
      topk_group: 1,
      n_shared_experts: 1,
      n_routed_experts: 128,
      routed_scaling_factor: 1,
      first_k_dense_replace: 1,
      norm_topk_prob: true,
      vocab_size: 151552,
    },
  },
  ...countsFurtherLayers,
  keys: [
    ...commonKeys,
    partialRope,
    key.expertFeedForward,
    { key: 'expert_shared_count', type: 'u32', from: ['n_shared_experts'] },
    { key: 'leading_dense_block_count', type: 'u32', from: ['first_k_dense_replace'] },
    { key: 'expert_gating_func', type: 'u32', value: () => 2, back: () => ({}) },
    { key: 'expert_weights_scale', type: 'f32', from: ['routed_scaling_factor'] },
    { key: 'expert_weights_norm', type: 'bool', from: ['norm_topk_prob'] },
    furtherLayers,
  ],
  tensors: {
    ...outerNames,
    ...attentionNames,
    ...headNormNames,
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.post_attention_layernorm`]: 'blk.{n}.post_attention_norm',
    ...gatedMlpNames,
    ...expertNames,
    [`${layer}.mlp.gate.e_score_correction_bias`]: 'blk.{n}.exp_probs_b.bias',
    ...sharedExpertsNames,
    ...furtherNames,
  },
  tokenizer: 'glm-moe',
}

const glm4vMoeConfig: Readonly<Record<string, Default>> = {
  ...glm4Moe.configs.glm4_moe,
  max_position_embeddings: 65536,
  vocab_size: 151424,
}

/** The text of GLM-4.5V and GLM-4.6V. */
export const glm4vMoe: Family = {
  ...glm4Moe,
  classes: ['Glm4vMoeForConditionalGeneration'],
  configs: { glm4v_moe: glm4vMoeConfig, glm4v_moe_text: glm4vMoeConfig, Glm4vMoe_text: glm4vMoeConfig },
}

/** Built like GLM-4.5, with a tokenizer of its own. */
export const solarOpen: Family = {
  ...glm4Moe,
  classes: ['SolarOpenForCausalLM'],
  configs: { solar_open: {} },
  settings: Object.keys(glm4Moe.configs.glm4_moe!),
  tellingPre: 'solar-open',
  tokenizer: 'solar',
}

/** GLM-4 that reads pictures of text, with layers that predict further tokens. */
export const glmOcr: Family = {
  ...glm4,
  classes: ['GlmOcrForConditionalGeneration'],
  configs: { glm_ocr_text: {}, glm_ocr: {} },
  settings: Object.keys(glm4.configs.glm4!),
  ...countsFurtherLayers,
  keys: [...glm4.keys, furtherLayers],
  tensors: { ...glm4.tensors, ...furtherNames },
}

const chat = 'encoder.layers.{n}'

/** ChatGLM, and GLM-4 of 2024. */
export const chatGlm: Family = {
  architecture: 'chatglm',
  classes: ['GlmForCausalLM', 'ChatGLMModel', 'ChatGLMForConditionalGeneration'],
  tells: { ChatGLMModel: /\.attn_qkv\./ },
  configs: {
    glm: {
      num_hidden_layers: 40,
      max_length: 20,
      hidden_size: 4096,
      intermediate_size: 13696,
      num_attention_heads: 32,
      num_key_value_heads: 2,
      head_dim: 128,
      partial_rotary_factor: 0.5,
      rope_theta: 10000,
      vocab_size: 151552,
    },
    chatglm: {},
  },
  settings: ['num_layers', 'ffn_hidden_size', 'multi_query_group_num', 'layernorm_epsilon'],
  keys: [
    // Models of the library do not say it, and get the width of their layers.
    {
      key: 'context_length',
      type: 'u32',
      from: ['seq_length'],
      value: ({ config }) => config.seq_length ?? config.hidden_size ?? config.n_embed,
      required: true,
    },
    { key: 'embedding_length', type: 'u32', from: ['hidden_size', 'n_embed'], required: true },
    {
      key: 'feed_forward_length',
      type: 'u32',
      from: ['ffn_hidden_size', 'intermediate_size'],
      value: ({ config }) =>
        numberIn(config, 'ffn_hidden_size', 'intermediate_size') ?? 4 * num(config, 'hidden_size', 'n_embed'),
    },
    key.blocks,
    { key: 'attention.head_count', type: 'u32', from: ['n_head', 'num_attention_heads'], required: true },
    {
      key: 'attention.head_count_kv',
      type: 'u32',
      from: ['multi_query_group_num', 'num_key_value_heads', 'n_head', 'num_attention_heads'],
    },
    {
      key: 'attention.layer_norm_rms_epsilon',
      type: 'f32',
      from: ['layernorm_epsilon'],
      value: ({ config }) => config.layernorm_epsilon ?? 1e-5,
    },
    key.fileType,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) =>
        Math.trunc(
          (numberIn(config, 'attention_dim') ?? headSize(config)) * (numberIn(rope, 'partial_rotary_factor') ?? 0.5),
        ),
      back: (value, config) => ({ partial_rotary_factor: Number(value) / headSize(config) }),
      required: true,
    },
    { key: 'tokenizer.ggml.add_bos_token', type: 'bool', value: () => false },
    {
      key: 'rope.freq_base',
      type: 'f32',
      value: ({ config }) => 10000 * (numberIn(config, 'rope_ratio') ?? 1),
      back: (value) => (value === 10000 ? {} : { rope_ratio: Number(value) / 10000 }),
    },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    [`${layer}.mlp.gate_up_proj`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.down_proj`]: 'blk.{n}.ffn_down',
    'embedding.word_embeddings': 'token_embd',
    output_layer: 'output',
    'encoder.final_layernorm': 'output_norm',
    [`${chat}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${chat}.post_attention_layernorm`]: 'blk.{n}.ffn_norm',
    [`${chat}.self_attention.query_key_value`]: 'blk.{n}.attn_qkv',
    [`${chat}.self_attention.dense`]: 'blk.{n}.attn_output',
    [`${chat}.mlp.dense_h_to_4h`]: 'blk.{n}.ffn_up',
    [`${chat}.mlp.dense_4h_to_h`]: 'blk.{n}.ffn_down',
  },
  prefix: { remove: ['transformer.'] },
  drops: [/\.rotary_pos_emb\.inv_freq$/],
  tokenizer: 'chatglm',
}
