// Qwen 2 and 3, dense and with experts.
import type { Default, Family, NameTable } from '../../family.js'
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
  num_key_value_heads: 32,
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
  classes: ['Qwen2ForCausalLM', 'Qwen2Model'],
  configs: { qwen2: dense },
  keys: [...commonKeys, key.pooling],
  tensors: denseNames,
  prefix: { add: { Qwen2Model: 'model.' } },
  tokenizer: 'sentencepiece-or-bpe',
}

export const qwen3: Family = {
  architecture: 'qwen3',
  classes: ['Qwen3ForCausalLM', 'Qwen3Model'],
  configs: { qwen3: { ...dense, head_dim: 128 } },
  keys: [...commonKeys, key.pooling],
  tensors: { ...denseNames, ...headNormNames },
  prefix: { add: { Qwen3Model: 'model.' } },
  tokenizer: 'sentencepiece-or-bpe',
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
