import { headSize, num } from '../../facts.js'
import type { Family } from '../../family.js'
import { key } from '../shared-keys.js'
import { attentionNames, gatedMlpNames, outerNames, preNormNames } from '../shared-names.js'

export const stableLm: Family = {
  architecture: 'stablelm',
  classes: ['StableLmForCausalLM', 'StableLMEpochForCausalLM'],
  configs: {
    stablelm: {
      num_hidden_layers: 32,
      max_position_embeddings: 4096,
      max_length: 20,
      hidden_size: 2560,
      intermediate_size: 6912,
      num_attention_heads: 32,
      num_key_value_heads: 32,
      rope_theta: 10000,
      rope_scaling: null,
      partial_rotary_factor: 0.25,
      layer_norm_eps: 1e-5,
      use_parallel_residual: false,
      vocab_size: 50304,
    },
  },
  others: { where: /^blk\.\d+\.attn_q\.bias$/, settings: { use_qkv_bias: true } },
  keys: [
    key.context,
    key.embedding,
    key.blocks,
    key.feedForward,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) => Math.trunc(num(rope, 'partial_rotary_factor') * headSize(config)),
      back: (value, config) => ({ partial_rotary_factor: Number(value) / headSize(config) }),
      required: true,
    },
    key.heads,
    key.kvHeads,
    key.parallelResidual,
    { key: 'attention.layer_norm_epsilon', type: 'f32', from: ['layer_norm_eps', 'norm_eps'], required: true },
    key.fileType,
  ],
  tensors: { ...outerNames, ...preNormNames, ...attentionNames, ...gatedMlpNames },
  tokenizer: 'bpe',
}
