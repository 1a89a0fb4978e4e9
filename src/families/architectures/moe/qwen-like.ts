// Models with experts that are built like Qwen 3 with experts, but for settings of their own.
import type { Config, Family, KeyRule, NameTable, TensorRule } from '../../family.js'
import { commonKeys, decoderSettings, key } from '../shared-keys.js'
import {
  attentionNames,
  expertNames,
  expertNamesIn,
  fusedExpertNames,
  gatedMlpNames,
  headNormNames,
  outerNames,
  preNormNames,
  sharedExpertNames,
  sharedExpertsNames,
} from '../shared-names.js'

const names: NameTable = {
  ...outerNames,
  ...preNormNames,
  ...attentionNames,
  ...headNormNames,
  ...gatedMlpNames,
  ...expertNames,
}

const settings = [...decoderSettings, 'num_experts', 'num_experts_per_tok']

/** Every token sees every other. */
export const seesAll: KeyRule = { key: 'attention.causal', type: 'bool', value: () => false, back: () => ({}) }
/** Text is made by filling in this token. */
export const maskToken: KeyRule = { key: 'tokenizer.ggml.mask_token_id', type: 'u32', from: ['mask_token_id'] }

/** Whether each layer sees a window only. */
const slidingLayers: KeyRule = {
  key: 'attention.sliding_window_pattern',
  type: 'bools',
  value: ({ config: { layer_types: types, sliding_window: window } }) =>
    Array.isArray(types) && window != null ? types.map((type) => type === 'sliding_attention') : undefined,
  back: (value) =>
    Array.isArray(value)
      ? { layer_types: value.map((isWindow) => (isWindow ? 'sliding_attention' : 'full_attention')) }
      : {},
}

export const rnd1: Family = {
  architecture: 'rnd1',
  classes: ['RND1'],
  configs: { rnd1: {} },
  settings,
  keys: [...commonKeys, key.expertFeedForward, key.sharedExpertFeedForward, seesAll, maskToken],
  tensors: { ...names, ...fusedExpertNames, ...sharedExpertNames },
  tokenizer: 'bpe',
}

const slides = ({ use_sliding_window: uses }: Config): boolean => uses === true || uses == null

export const mellum: Family = {
  architecture: 'mellum',
  classes: ['MellumForCausalLM'],
  configs: { mellum: {} },
  settings,
  settle: (config) => (slides(config) ? config : { ...config, sliding_window: null }),
  keys: [...commonKeys, key.expertFeedForward, key.slidingWindow, slidingLayers],
  tensors: names,
  tokenizer: 'bpe',
}

const chunk = 'model.layers.{n}.mlp.chunk_experts.{e}'
const chunks = (part: string): TensorRule => ({ to: `blk.{n}.ffn_${part}_chexps`, stack: true, experts: 0.5 })

/** Every two experts share a small one. */
export const groveMoe: Family = {
  architecture: 'grovemoe',
  classes: ['GroveMoeForCausalLM', 'modeling_grove_moe.GroveMoeForCausalLM'],
  configs: { grove_moe: {} },
  settings,
  keys: [
    ...commonKeys,
    key.expertFeedForward,
    {
      key: 'expert_chunk_feed_forward_length',
      type: 'u32',
      value: ({ config }) => config.head_dim || 128,
      back: () => ({}),
    },
    { key: 'experts_per_group', type: 'u32', value: () => 2, back: () => ({}) },
    { key: 'expert_group_scale', type: 'f32', value: () => 0.05, back: () => ({}) },
  ],
  tensors: {
    ...names,
    [`${chunk}.down_proj`]: chunks('down'),
    [`${chunk}.gate_proj`]: chunks('gate'),
    [`${chunk}.up_proj`]: chunks('up'),
  },
  drops: [/\.expert_bias$/],
  tokenizer: 'bpe',
}

/** Trinity: a gate for the attention, norms on both sides, experts behind a few dense layers. */
export const afMoe: Family = {
  architecture: 'afmoe',
  classes: ['AfmoeForCausalLM'],
  configs: { afmoe: {} },
  settings,
  keys: [
    ...commonKeys,
    key.vocabulary,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config }) => config.head_dim ?? undefined,
      back: () => ({}),
    },
    { key: 'expert_shared_count', type: 'u32', from: ['num_shared_experts'] },
    key.expertFeedForward,
    { key: 'leading_dense_block_count', type: 'u32', from: ['num_dense_layers'] },
    { key: 'expert_weights_norm', type: 'bool', from: ['route_norm'] },
    { key: 'expert_weights_scale', type: 'f32', from: ['route_scale'] },
    key.slidingWindow,
  ],
  tensors: {
    ...outerNames,
    'model.layers.{n}.input_layernorm': 'blk.{n}.attn_norm',
    'model.layers.{n}.post_attention_layernorm': 'blk.{n}.post_attention_norm',
    'model.layers.{n}.pre_mlp_layernorm': 'blk.{n}.ffn_norm',
    'model.layers.{n}.post_mlp_layernorm': 'blk.{n}.post_ffw_norm',
    ...attentionNames,
    ...headNormNames,
    'model.layers.{n}.self_attn.gate_proj': 'blk.{n}.attn_gate',
    ...gatedMlpNames,
    'model.layers.{n}.mlp.router.gate': 'blk.{n}.ffn_gate_inp',
    'model.layers.{n}.mlp.expert_bias': 'blk.{n}.exp_probs_b.bias',
    ...expertNamesIn(['gate_proj', 'up_proj', 'down_proj']),
    ...sharedExpertsNames,
  },
  computed: 'rope-freqs',
  tokenizer: 'llama',
}

const sparse = 'model.layers.{n}.block_sparse_moe'
const stacked = (to: string): TensorRule => ({ to, stack: true })

export const miniMaxM2: Family = {
  architecture: 'minimax-m2',
  classes: ['MiniMaxM2ForCausalLM'],
  configs: { minimax_m2: {}, minimax: {} },
  settings: [...settings.filter((each) => each !== 'num_experts'), 'num_local_experts'],
  keys: [
    ...commonKeys,
    { key: 'expert_feed_forward_length', type: 'u32', from: ['intermediate_size'], required: true },
    { key: 'rope.dimension_count', type: 'u32', from: ['rotary_dim'], required: true },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    ...headNormNames,
    [`${sparse}.gate`]: 'blk.{n}.ffn_gate_inp',
    [`${sparse}.e_score_correction_bias`]: 'blk.{n}.exp_probs_b.bias',
    [`${sparse}.experts.{e}.w1`]: stacked('blk.{n}.ffn_gate_exps'),
    [`${sparse}.experts.{e}.w2`]: stacked('blk.{n}.ffn_down_exps'),
    [`${sparse}.experts.{e}.w3`]: stacked('blk.{n}.ffn_up_exps'),
  },
  tokenizer: 'bpe',
}

const gating: KeyRule = {
  key: 'expert_gating_func',
  type: 'u32',
  value: ({ config }) => (config.moe_primary_router_apply_softmax ? 1 : 2),
  back: (value) => ({ moe_primary_router_apply_softmax: value === 1 }),
}

const isAnyWindow = (layout: unknown): boolean => Array.isArray(layout) && layout.some((each) => each !== 0)

export const smallThinker: Family = {
  architecture: 'smallthinker',
  classes: ['SmallThinkerForCausalLM'],
  configs: { smallthinker: {} },
  settings: settings.filter((each) => !/experts|intermediate/.test(each)),
  keys: [
    // What layers have that are not experts follows from the experts, and comes later.
    ...commonKeys.filter((rule) => !['feed_forward_length', 'expert_gating_func'].includes(rule.key)),
    { key: 'expert_count', type: 'u32', from: ['moe_num_primary_experts'] },
    { key: 'expert_used_count', type: 'u32', from: ['moe_num_active_primary_experts'] },
    { key: 'expert_feed_forward_length', type: 'u32', from: ['moe_ffn_hidden_size'] },
    { key: 'feed_forward_length', type: 'u32', from: ['moe_ffn_hidden_size'] },
    gating,
    {
      key: 'attention.sliding_window',
      type: 'u32',
      from: ['sliding_window_size'],
      value: ({ config }) => (isAnyWindow(config.sliding_window_layout) ? config.sliding_window_size : undefined),
      back: (value, config) => ({
        sliding_window_size: value,
        // Which layers have it is nowhere in the file.
        sliding_window_layout: Array(Math.min(Number(config.num_hidden_layers) || 0, 10_000)).fill(1),
      }),
    },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    [`${sparse}.primary_router`]: 'blk.{n}.ffn_gate_inp',
    [`${sparse}.experts.{e}.down`]: stacked('blk.{n}.ffn_down_exps'),
    [`${sparse}.experts.{e}.gate`]: stacked('blk.{n}.ffn_gate_exps'),
    [`${sparse}.experts.{e}.up`]: stacked('blk.{n}.ffn_up_exps'),
  },
  tokenizer: 'bpe',
}
