// Nemotron and Minitron: norms that store how far they are from one, and a feed-forward part without a gate.
import { num } from '../../facts.js'
import type { Config, Family, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import { attentionNames, outerNames } from '../shared-names.js'

/** A norm with a bias; only its weight is stored that way. */
const norm = (from: string, to: string): NameTable => ({
  [`${from}.weight`]: { to: `${to}.weight`, by: 'plus-one' },
  [`${from}.bias`]: `${to}.bias`,
})

const { 'model.norm': _, ...embeddings } = outerNames

const factorOf = (config: Config, rope: Config): unknown => config.factor || rope.factor

export const nemotron: Family = {
  architecture: 'nemotron',
  classes: ['NemotronForCausalLM'],
  configs: {
    nemotron: {
      num_hidden_layers: 32,
      max_position_embeddings: 4096,
      max_length: 20,
      hidden_size: 6144,
      intermediate_size: 24576,
      num_attention_heads: 48,
      num_key_value_heads: null,
      head_dim: (config) => Math.floor(num(config, 'hidden_size') / num(config, 'num_attention_heads')),
      norm_eps: 1e-5,
      rope_theta: 10000,
      partial_rotary_factor: 0.5,
      vocab_size: 256000,
    },
  },
  keys: [
    ...commonKeys,
    key.vocabulary,
    {
      key: 'attention.layer_norm_epsilon',
      type: 'f32',
      from: ['layer_norm_eps', 'layer_norm_epsilon', 'norm_epsilon', 'norm_eps'],
      back: (value) => ({ norm_eps: value }),
      required: true,
    },
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) => {
        const rotated = Math.trunc(num(rope, 'partial_rotary_factor') * num(config, 'hidden_size'))
        return Math.floor(rotated / num(config, 'num_attention_heads'))
      },
      back: (value, config) => ({
        partial_rotary_factor: (Number(value) * num(config, 'num_attention_heads')) / num(config, 'hidden_size'),
      }),
      required: true,
    },
    {
      key: 'rope.scaling.type',
      type: 'str',
      value: ({ config, rope }) => (factorOf(config, rope) == null ? 'none' : 'linear'),
      back: () => ({}),
    },
    {
      key: 'rope.scaling.factor',
      type: 'f32',
      value: ({ config, rope }) => factorOf(config, rope),
      back: (value) => ({ factor: value }),
    },
  ],
  tensors: {
    ...embeddings,
    ...norm('model.norm', 'output_norm'),
    ...norm('model.layers.{n}.input_layernorm', 'blk.{n}.attn_norm'),
    ...attentionNames,
    ...norm('model.layers.{n}.post_attention_layernorm', 'blk.{n}.ffn_norm'),
    'model.layers.{n}.mlp.up_proj': 'blk.{n}.ffn_up',
    'model.layers.{n}.mlp.down_proj': 'blk.{n}.ffn_down',
  },
  tokenizer: 'sentencepiece',
  tokenizerEntries: { after: { padding_token_id: 0, unknown_token_id: 1 } },
}
