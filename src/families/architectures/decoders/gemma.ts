// Gemma 1 to 3. Their norms multiply by one plus the stored weight, and llama.cpp's by the weight itself.
import { num } from '../../facts.js'
import type { Default, Family, KeyRule, NameTable } from '../../family.js'
import { commonKeys, fullRope, key } from '../shared-keys.js'
import { attentionNames, each, gatedMlpNames, headNormNames, outerNames, preNormNames } from '../shared-names.js'

const isNorm = (name: string): boolean => name.endsWith('norm')
const layer = 'model.layers.{n}'

const gemmaNames: NameTable = each(
  { 'model.embed_tokens': outerNames['model.embed_tokens']!, 'model.norm': 'output_norm', ...preNormNames },
  'plus-one',
  isNorm,
)

const sandwichNorms: NameTable = each(
  {
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.post_attention_layernorm`]: 'blk.{n}.post_attention_norm',
    [`${layer}.pre_feedforward_layernorm`]: 'blk.{n}.ffn_norm',
    [`${layer}.post_feedforward_layernorm`]: 'blk.{n}.post_ffw_norm',
  },
  'plus-one',
  isNorm,
)

const keys: readonly KeyRule[] = [
  key.context,
  key.embedding,
  key.blocks,
  key.feedForward,
  key.heads,
  key.kvHeads,
  key.rmsEpsilon,
  key.keyLength,
  key.valueLength,
  key.fileType,
]

const softcapping = (key: string, from: string): KeyRule => ({ key, type: 'f32', from: [from], required: true })

const config: Readonly<Record<string, Default>> = {
  max_position_embeddings: 8192,
  max_length: 20,
  rope_theta: 10000,
  rms_norm_eps: 1e-6,
  head_dim: 256,
  vocab_size: 256000,
}

export const gemma: Family = {
  architecture: 'gemma',
  classes: ['GemmaForCausalLM'],
  configs: {
    gemma: {
      ...config,
      num_hidden_layers: 28,
      hidden_size: 3072,
      intermediate_size: 24576,
      num_attention_heads: 16,
      num_key_value_heads: 16,
    },
  },
  keys,
  tensors: { ...gemmaNames, ...attentionNames, ...gatedMlpNames },
  drops: [/^lm_head\.weight$/],
  tokenizer: 'gemma-1',
}

export const gemma2: Family = {
  architecture: 'gemma2',
  classes: ['Gemma2ForCausalLM'],
  configs: {
    gemma2: {
      ...config,
      num_hidden_layers: 26,
      hidden_size: 2304,
      intermediate_size: 9216,
      num_attention_heads: 8,
      num_key_value_heads: 4,
      sliding_window: 4096,
      final_logit_softcapping: 30,
      attn_logit_softcapping: 50,
    },
  },
  keys: [
    ...keys,
    softcapping('attn_logit_softcapping', 'attn_logit_softcapping'),
    softcapping('final_logit_softcapping', 'final_logit_softcapping'),
    { ...key.slidingWindow, required: true },
  ],
  tensors: { ...gemmaNames, ...sandwichNorms, ...attentionNames, ...gatedMlpNames },
  drops: [/^lm_head\.weight$/],
  tokenizer: 'gemma-2',
}

export const gemma3: Family = {
  architecture: 'gemma3',
  classes: ['Gemma3ForCausalLM', 'Gemma3ForConditionalGeneration'],
  configs: {
    gemma3_text: {
      ...config,
      num_hidden_layers: 26,
      max_position_embeddings: 131072,
      hidden_size: 2304,
      intermediate_size: 9216,
      num_attention_heads: 8,
      num_key_value_heads: 4,
      rope_theta: 1e6,
      rope_scaling: null,
      rope_local_base_freq: 10000,
      sliding_window: 4096,
      final_logit_softcapping: null,
      vocab_size: 262208,
    },
  },
  keys: [
    ...commonKeys,
    {
      key: 'rope.freq_base',
      type: 'f32',
      from: ['rope_theta'],
      value: ({ rope }) => fullRope(rope).rope_theta ?? 1e6,
    },
    {
      key: 'final_logit_softcapping',
      type: 'f32',
      from: ['final_logit_softcapping'],
      value: ({ config }) => config.final_logit_softcapping || undefined,
    },
    {
      ...key.slidingWindow,
      absent: { sliding_window_pattern: 1 },
      value: ({ config }) => (config.sliding_window_pattern === 1 ? undefined : num(config, 'sliding_window')),
    },
  ],
  tensors: {
    ...gemmaNames,
    ...sandwichNorms,
    ...attentionNames,
    ...each(headNormNames, 'plus-one', isNorm),
    ...gatedMlpNames,
    'model.embed_tokens': { to: 'token_embd', by: 'vocabulary-rows' },
    lm_head: 'output',
  },
  tokenizer: 'gemma-3',
}

/** Gemma 3 that looks at a text from both sides, for embeddings. */
export const gemmaEmbedding: Family = {
  ...gemma3,
  architecture: 'gemma-embedding',
  classes: ['Gemma3TextModel'],
  // What the file says about both sides makes the class halve the window.
  keys: [...gemma3.keys, { ...key.slidingWindow, required: true }, key.pooling],
  prefix: { add: { Gemma3TextModel: 'model.' } },
}
