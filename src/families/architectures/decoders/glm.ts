// GLM-4 of 2025, with norms before and behind each part, and gate and up in one matrix.

import { headSize, num, numberIn } from '../../facts.js'
import type { Family } from '../../family.js'
import { commonKeys } from '../shared-keys.js'
import { attentionNames, outerNames } from '../shared-names.js'

const layer = 'model.layers.{n}'

export const glm4: Family = {
  architecture: 'glm4',
  classes: ['Glm4ForCausalLM'],
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
  },
  keys: [
    ...commonKeys,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) =>
        Math.trunc(
          (numberIn(config, 'head_dim') ?? headSize(config)) * (numberIn(rope, 'partial_rotary_factor') ?? 0.5),
        ),
      back: (value, config) => ({ partial_rotary_factor: Number(value) / num(config, 'head_dim') }),
      required: true,
    },
  ],
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
