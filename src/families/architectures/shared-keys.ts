// The metadata that most architectures have, in the order in which llama.cpp's converter writes it.
import { configWords } from '../../content/config-words.js'
import { isObject } from '../facts.js'
import type { Config, KeyRule } from '../family.js'

/** What config.json says of nearly every decoder with rotary positions. */
export const decoderSettings = [
  'num_hidden_layers',
  'max_position_embeddings',
  'hidden_size',
  'intermediate_size',
  'num_attention_heads',
  'num_key_value_heads',
  'rms_norm_eps',
  'rope_theta',
] as const

export const key = {
  blocks: { key: 'block_count', type: 'u32', from: configWords.layers, value: ({ layers }) => layers },
  context: { key: 'context_length', type: 'u32', from: ['max_position_embeddings'], required: true },
  embedding: { key: 'embedding_length', type: 'u32', from: ['hidden_size'], required: true },
  feedForward: { key: 'feed_forward_length', type: 'u32', from: ['intermediate_size'], required: true },
  heads: { key: 'attention.head_count', type: 'u32', from: ['num_attention_heads'], required: true },
  kvHeads: {
    key: 'attention.head_count_kv',
    type: 'u32',
    from: ['num_key_value_heads'],
    absent: ({ num_attention_heads }) => ({ num_key_value_heads: num_attention_heads }),
    required: true,
  },
  rmsEpsilon: { key: 'attention.layer_norm_rms_epsilon', type: 'f32', from: ['rms_norm_eps'], required: true },
  keyLength: { key: 'attention.key_length', type: 'u32', from: ['head_dim'] },
  valueLength: { key: 'attention.value_length', type: 'u32', from: ['head_dim'] },
  fileType: { key: 'general.file_type', type: 'u32', value: ({ fileType }) => fileType },
  vocabulary: { key: 'vocab_size', type: 'u32', from: ['vocab_size'], required: true },
  slidingWindow: { key: 'attention.sliding_window', type: 'u32', from: ['sliding_window'] },
  logitScale: { key: 'logit_scale', type: 'f32', from: ['logit_scale'], required: true },
  parallelResidual: {
    key: 'use_parallel_residual',
    type: 'bool',
    from: ['use_parallel_residual'],
    value: ({ config }) => config.use_parallel_residual === undefined || Boolean(config.use_parallel_residual),
  },
  noRopeScaling: { key: 'rope.scaling.type', type: 'str', value: () => 'none' },
  pooling: { key: 'pooling_type', type: 'u32', value: ({ pooling }) => pooling },
  expertFeedForward: { key: 'expert_feed_forward_length', type: 'u32', from: ['moe_intermediate_size'] },
  sharedExpertFeedForward: {
    key: 'expert_shared_feed_forward_length',
    type: 'u32',
    from: ['shared_expert_intermediate_size'],
  },
} as const satisfies Record<string, KeyRule>

/** The settings of full attention, where there are others for sliding windows. */
export const fullRope = (rope: Config): Config => (isObject(rope.full_attention) ? rope.full_attention : rope)

/** A setting of the RoPE scaling, if that is of a certain type and has a factor. */
const scaling =
  (types: readonly string[], read: (rope: Config) => unknown) =>
  ({ rope }: { readonly rope: Config }): unknown => {
    const full = fullRope(rope)
    const needsFactor = full.rope_type === 'linear' || full.rope_type === 'yarn'
    if (!types.includes(String(full.rope_type)) || (needsFactor && full.factor == null)) return undefined
    return read(full)
  }

const scalingNames: Readonly<Record<string, string>> = {
  linear: 'linear',
  yarn: 'yarn',
  su: 'longrope',
  longrope: 'longrope',
}
/** A setting of the RoPE scaling, beside those that are known. */
const scaled =
  (name: string, read: (value: unknown) => unknown = (value) => value) =>
  (value: unknown, { rope_scaling: known }: Config): Config => ({
    rope_scaling: { ...(isObject(known) && known), [name]: read(value) },
  })

const gatingFunctions: Readonly<Record<string, number>> = { softmax: 1, sigmoid: 2, sqrtsoftplus: 4 }

const ropeKeys: readonly KeyRule[] = [
  {
    key: 'rope.scaling.type',
    type: 'str',
    value: scaling(Object.keys(scalingNames), ({ rope_type }) => scalingNames[String(rope_type)]),
    back: scaled('rope_type'),
  },
  {
    key: 'rope.scaling.factor',
    type: 'f32',
    value: scaling(['linear', 'yarn'], ({ factor }) => factor),
    back: scaled('factor'),
  },
  {
    key: 'rope.scaling.original_context_length',
    type: 'u32',
    value: scaling(['yarn'], (rope) => rope.original_max_position_embeddings),
    back: scaled('original_max_position_embeddings'),
  },
  {
    key: 'rope.scaling.yarn_ext_factor',
    type: 'f32',
    value: scaling(['yarn'], ({ extrapolation_factor }) => extrapolation_factor),
    back: scaled('extrapolation_factor'),
  },
  {
    key: 'rope.scaling.yarn_attn_factor',
    type: 'f32',
    value: scaling(['yarn'], (rope) => ('attention_factor' in rope ? rope.attention_factor : rope.attn_factor)),
    back: scaled('attention_factor'),
  },
  {
    key: 'rope.scaling.yarn_beta_fast',
    type: 'f32',
    value: scaling(['yarn'], ({ beta_fast }) => beta_fast),
    back: scaled('beta_fast'),
  },
  {
    key: 'rope.scaling.yarn_beta_slow',
    type: 'f32',
    value: scaling(['yarn'], ({ beta_slow }) => beta_slow),
    back: scaled('beta_slow'),
  },
  {
    key: 'rope.dimension_sections',
    type: 'i32s',
    value: ({ rope }) => sections(rope.mrope_section),
    back: scaled('mrope_section'),
  },
  { key: 'rope.freq_base', type: 'f32', from: ['rope_theta'], value: ({ rope }) => fullRope(rope).rope_theta },
  {
    key: 'rope.freq_base_swa',
    type: 'f32',
    from: ['rope_local_base_freq'],
    value: ({ rope }) => (isObject(rope.sliding_attention) ? rope.sliding_attention.rope_theta : undefined),
  },
]

/** Time, height, width and one more. */
const sections = (stated: unknown): unknown => (Array.isArray(stated) ? [...stated, 0, 0, 0, 0].slice(0, 4) : undefined)

export const commonKeys: readonly KeyRule[] = [
  key.blocks,
  {
    key: 'context_length',
    type: 'u32',
    from: [...configWords.context, 'max_length', 'max_sequence_length', 'model_max_length'],
  },
  { key: 'embedding_length', type: 'u32', from: configWords.hidden },
  { key: 'feed_forward_length', type: 'u32', from: configWords.feedForward },
  { key: 'attention.head_count', type: 'u32', from: configWords.heads },
  { key: 'attention.head_count_kv', type: 'u32', from: configWords.kvHeads },
  {
    key: 'attention.causal',
    type: 'bool',
    value: ({ config }) => (config.is_causal === false ? false : undefined),
    back: (value) => (value === false ? { is_causal: false } : {}),
  },
  ...ropeKeys,
  { key: 'attention.layer_norm_rms_epsilon', type: 'f32', from: ['rms_norm_eps', 'norm_eps'] },
  {
    key: 'attention.layer_norm_epsilon',
    type: 'f32',
    from: ['layer_norm_eps', 'layer_norm_epsilon', 'norm_epsilon'],
  },
  { key: 'expert_count', type: 'u32', from: configWords.experts },
  { key: 'expert_used_count', type: 'u32', from: configWords.usedExperts },
  { key: 'expert_group_count', type: 'u32', from: ['n_group'] },
  { key: 'expert_group_used_count', type: 'u32', from: ['topk_group'] },
  {
    key: 'expert_gating_func',
    type: 'u32',
    value: ({ config }) => {
      const name = gatingNames.map((each) => config[each]).find((each) => each !== undefined)
      return name == null ? undefined : (gatingFunctions[String(name)] ?? name)
    },
    back: (value) => {
      const name = Object.keys(gatingFunctions).find((each) => gatingFunctions[each] === value)
      return { scoring_func: name ?? value }
    },
  },
  key.keyLength,
  key.valueLength,
  key.fileType,
]

const gatingNames = [
  'score_function',
  'scoring_func',
  'score_func',
  'moe_router_activation',
  'moe_router_activation_func',
  'expert_selection_fn',
]
