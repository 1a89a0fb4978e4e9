// Qwen 2 and 3, dense and with experts.
import { headSize, heads, isObject } from '../../facts.js'
import type { Default, Family, KeyRule, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import {
  attentionNames,
  expertNames,
  fusedExpertNames,
  gatedMlpNames,
  headNormNames,
  outerNames,
  preNormNames,
  sharedExpertNames,
} from '../shared-names.js'

const decoder: Readonly<Record<string, Default>> = {
  max_position_embeddings: 32768,
  max_length: 20,
  rope_theta: 10000,
  rope_scaling: null,
  rms_norm_eps: 1e-6,
  vocab_size: 151936,
}

const dense: Readonly<Record<string, Default>> = {
  ...decoder,
  num_hidden_layers: 32,
  hidden_size: 4096,
  intermediate_size: 22016,
  num_attention_heads: 32,
  num_key_value_heads: [32, heads],
}

const sparse: Readonly<Record<string, Default>> = {
  ...decoder,
  num_hidden_layers: 24,
  hidden_size: 2048,
}

const denseNames: NameTable = { ...outerNames, ...preNormNames, ...attentionNames, ...gatedMlpNames }
const sparseNames: NameTable = { ...denseNames, ...expertNames, ...fusedExpertNames, ...sharedExpertNames }
const sparseKeys = [...commonKeys, key.expertFeedForward, key.sharedExpertFeedForward]

export const qwen2: Family = {
  architecture: 'qwen2',
  classes: [
    'Qwen2ForCausalLM',
    'Qwen2Model',
    'KORMoForCausalLM',
    'Qwen2AudioForConditionalGeneration',
    'AudioFlamingo3ForConditionalGeneration',
    'DotsOCRForCausalLM',
  ],
  configs: { qwen2: dense },
  keys: [...commonKeys, key.pooling],
  tensors: denseNames,
  prefix: { add: { Qwen2Model: 'model.' } },
  tokenizer: 'sentencepiece-or-bpe',
}

export const qwen3: Family = {
  architecture: 'qwen3',
  classes: ['Qwen3ForCausalLM', 'Qwen3Model', 'StepVLForConditionalGeneration'],
  configs: { qwen3: { ...dense, head_dim: 128 } },
  keys: [...commonKeys, key.pooling],
  tensors: { ...denseNames, ...headNormNames },
  prefix: { add: { Qwen3Model: 'model.' } },
  tokenizer: 'sentencepiece-or-bpe',
}

/** Built like Qwen 3. */
export const maincoder: Family = {
  architecture: 'maincoder',
  classes: ['MaincoderForCausalLM'],
  configs: { maincoder: {} },
  settings: Object.keys(dense),
  keys: [...commonKeys, { key: 'rope.dimension_count', type: 'u32', from: ['head_dim'] }],
  tensors: { ...denseNames, ...headNormNames },
  tokenizer: 'bpe',
}

export const qwen2Moe: Family = {
  architecture: 'qwen2moe',
  classes: ['Qwen2MoeForCausalLM'],
  configs: {
    qwen2_moe: {
      ...sparse,
      intermediate_size: 5632,
      num_attention_heads: 16,
      num_key_value_heads: 16,
      num_experts: 60,
      num_experts_per_tok: 4,
      moe_intermediate_size: 1408,
      shared_expert_intermediate_size: 5632,
    },
  },
  keys: sparseKeys,
  tensors: sparseNames,
  tokenizer: 'bpe',
}

export const qwen3Moe: Family = {
  architecture: 'qwen3moe',
  classes: ['Qwen3MoeForCausalLM'],
  configs: {
    qwen3_moe: {
      ...sparse,
      intermediate_size: 6144,
      num_attention_heads: 32,
      num_key_value_heads: 4,
      num_experts: 128,
      num_experts_per_tok: 8,
      moe_intermediate_size: 768,
    },
  },
  keys: sparseKeys,
  tensors: { ...sparseNames, ...headNormNames },
  tokenizer: 'bpe',
}

const seeing: Readonly<Record<string, Default>> = {
  ...dense,
  num_hidden_layers: 80,
  hidden_size: 8192,
  intermediate_size: 29568,
  num_attention_heads: 64,
  num_key_value_heads: [8, heads],
  rope_theta: 1e6,
  rms_norm_eps: 1e-5,
  vocab_size: 152064,
}

const speaking: Readonly<Record<string, Default>> = {
  ...dense,
  rope_scaling: { rope_type: 'default', mrope_section: [16, 24, 24] },
  num_hidden_layers: 28,
  hidden_size: 3584,
  intermediate_size: 18944,
  num_attention_heads: 28,
  num_key_value_heads: [4, heads],
  rope_theta: 1e6,
  vocab_size: 152064,
}

/** The text of Qwen 2 VL and 2.5 VL, whose RoPE has sections for time, height and width. */
export const qwen2Vl: Family = {
  architecture: 'qwen2vl',
  classes: [
    'Qwen2VLForConditionalGeneration',
    'Qwen2_5_VLForConditionalGeneration',
    'Qwen2VLModel',
    'Qwen2_5OmniModel',
  ],
  configs: {
    qwen2_vl: seeing,
    qwen2_5_vl: seeing,
    qwen2_vl_text: seeing,
    qwen2_5_vl_text: seeing,
    qwen2_5_omni_text: speaking,
  },
  keys: commonKeys,
  tensors: denseNames,
  respell: [[/^thinker\./, '']],
  tokenizer: 'sentencepiece-or-bpe',
}

/** Layers that what is seen is added to. */
const deepstack: KeyRule = {
  key: 'n_deepstack_layers',
  type: 'u32',
  value: ({ config }) => {
    const stated = isObject(config.vision_config) ? config.vision_config.deepstack_visual_indexes : undefined
    return Array.isArray(stated) ? stated.length : 3
  },
  back: (value) => ({
    vision_config: { deepstack_visual_indexes: Array.from({ length: Number(value) }, (_, i) => i) },
  }),
}

const seeing3: Readonly<Record<string, Default>> = {
  ...dense,
  max_position_embeddings: 128000,
  head_dim: 128,
  rope_theta: 5e6,
}

export const qwen3Vl: Family = {
  architecture: 'qwen3vl',
  classes: ['Qwen3VLForConditionalGeneration'],
  configs: { qwen3_vl_text: seeing3, qwen3_vl: seeing3 },
  keys: [...commonKeys, key.pooling, deepstack],
  tensors: { ...denseNames, ...headNormNames },
  tokenizer: 'sentencepiece-or-bpe',
}

const seeing3Moe: Readonly<Record<string, Default>> = {
  ...sparse,
  max_position_embeddings: 128000,
  intermediate_size: 5632,
  num_attention_heads: 16,
  num_key_value_heads: [16, heads],
  head_dim: headSize,
  rope_theta: 5e6,
  num_experts: 60,
  num_experts_per_tok: 4,
  moe_intermediate_size: 1408,
}

const experts = 'model.layers.{n}.mlp.experts'

/** The experts are stacked and transposed. */
export const qwen3VlMoe: Family = {
  architecture: 'qwen3vlmoe',
  classes: ['Qwen3VLMoeForConditionalGeneration'],
  configs: { qwen3_vl_moe_text: seeing3Moe, qwen3_vl_moe: seeing3Moe },
  keys: [...sparseKeys, deepstack],
  tensors: {
    ...denseNames,
    ...headNormNames,
    [`${experts}.gate_up_proj`]: {
      to: ['blk.{n}.ffn_gate_exps.weight', 'blk.{n}.ffn_up_exps.weight'],
      by: 'transpose-split-halves',
    },
    [`${experts}.down_proj`]: { to: 'blk.{n}.ffn_down_exps.weight', by: 'transpose-last' },
    ...expertNames,
  },
  tokenizer: 'bpe',
}
