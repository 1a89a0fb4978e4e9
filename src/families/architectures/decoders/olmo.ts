// OLMo, OLMo 2 and OLMoE. The norms of OLMo have no weights; OLMo 2 norms what attention and feed-forward give, not what they get.
import { heads } from '../../facts.js'
import type { Default, Family } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import {
  attentionNames,
  expertNames,
  gatedMlpNames,
  headNormNames,
  outerNames,
  permutedAttentionNames,
  preNormNames,
} from '../shared-names.js'

const config: Readonly<Record<string, Default>> = {
  max_length: 20,
  num_key_value_heads: heads,
  rope_theta: 10000,
  rope_scaling: null,
  rms_norm_eps: 1e-5,
  vocab_size: 50304,
}

const denseConfig: Readonly<Record<string, Default>> = {
  ...config,
  num_hidden_layers: 32,
  max_position_embeddings: 2048,
  hidden_size: 4096,
  intermediate_size: 11008,
  num_attention_heads: 32,
}

const { rms_norm_eps: _, ...withoutEpsilon } = denseConfig

export const olmo: Family = {
  architecture: 'olmo',
  classes: ['OlmoForCausalLM', 'OLMoForCausalLM'],
  configs: { olmo: withoutEpsilon },
  keys: [
    ...commonKeys,
    { key: 'attention.layer_norm_epsilon', type: 'f32', value: () => 1e-5 },
    { key: 'attention.clamp_kqv', type: 'f32', from: ['clip_qkv'] },
  ],
  tensors: {
    'model.embed_tokens': 'token_embd',
    lm_head: 'output',
    ...permutedAttentionNames,
    ...gatedMlpNames,
  },
  tokenizer: 'bpe',
}

const isSliding = (type: unknown): boolean => type === 'sliding_attention'

export const olmo2: Family = {
  architecture: 'olmo2',
  classes: ['Olmo2ForCausalLM', 'Olmo3ForCausalLM'],
  configs: {
    olmo2: denseConfig,
    olmo3: { ...denseConfig, sliding_window: 4096 },
  },
  keys: [
    ...commonKeys,
    key.slidingWindow,
    {
      key: 'attention.sliding_window_pattern',
      type: 'bools',
      value: ({ config, layers }) => {
        if (!('sliding_window' in config)) return undefined
        // Without a list, every fourth layer looks at everything.
        if (Array.isArray(config.layer_types)) return config.layer_types.map(isSliding)
        return Array.from({ length: layers }, (_, i) => (i + 1) % 4 !== 0)
      },
      back: (value) =>
        Array.isArray(value)
          ? { layer_types: value.map((isWindow) => (isWindow ? 'sliding_attention' : 'full_attention')) }
          : {},
    },
  ],
  tensors: {
    ...outerNames,
    ...attentionNames,
    ...headNormNames,
    'model.layers.{n}.post_attention_layernorm': 'blk.{n}.post_attention_norm',
    'model.layers.{n}.post_feedforward_layernorm': 'blk.{n}.post_ffw_norm',
    ...gatedMlpNames,
  },
  tokenizer: 'bpe',
}

export const olmoe: Family = {
  architecture: 'olmoe',
  classes: ['OlmoeForCausalLM'],
  configs: {
    olmoe: {
      ...config,
      num_hidden_layers: 16,
      max_position_embeddings: 4096,
      hidden_size: 2048,
      intermediate_size: 2048,
      num_attention_heads: 16,
      num_experts: 64,
      num_experts_per_tok: 8,
    },
  },
  keys: [...commonKeys, { key: 'attention.layer_norm_rms_epsilon', type: 'f32', value: () => 1e-5 }],
  tensors: { ...outerNames, ...preNormNames, ...attentionNames, ...headNormNames, ...expertNames },
  tokenizer: 'bpe',
}
