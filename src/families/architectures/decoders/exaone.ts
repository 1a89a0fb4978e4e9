// EXAONE 3, with Llama's layers under the names of GPT-2, and EXAONE 4, which has its norms behind the layers.
import { find, headSize, num } from '../../facts.js'
import type { Config, Family } from '../../family.js'
import { countsFurtherLayers, furtherLayers } from '../further-layers.js'
import { named } from '../hybrids/qwen3-next.js'
import { commonKeys, decoderSettings, key } from '../shared-keys.js'
import {
  attentionNames,
  expertNames,
  gatedMlpNames,
  headNormNames,
  outerNames,
  preNormNames,
  sharedExpertsNames,
} from '../shared-names.js'
import { furtherNames } from './glm.js'

const layer = 'transformer.h.{n}'

export const exaone: Family = {
  architecture: 'exaone',
  classes: ['ExaoneForCausalLM'],
  configs: { exaone: {} },
  settings: ['num_layers', 'layer_norm_epsilon'],
  keys: [
    ...commonKeys,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) => Math.trunc(Number(rope.partial_rotary_factor ?? 1) * headSize(config)),
      back: (value, config) =>
        value === headSize(config) ? {} : { partial_rotary_factor: Number(value) / headSize(config) },
      required: true,
    },
  ],
  tensors: {
    'transformer.wte': 'token_embd',
    lm_head: 'output',
    'transformer.ln_f': 'output_norm',
    [`${layer}.ln_1`]: 'blk.{n}.attn_norm',
    [`${layer}.attn.attention.q_proj`]: 'blk.{n}.attn_q',
    [`${layer}.attn.attention.k_proj`]: 'blk.{n}.attn_k',
    [`${layer}.attn.attention.v_proj`]: 'blk.{n}.attn_v',
    [`${layer}.attn.attention.out_proj`]: 'blk.{n}.attn_output',
    [`${layer}.ln_2`]: 'blk.{n}.ffn_norm',
    [`${layer}.mlp.c_fc_0`]: 'blk.{n}.ffn_gate',
    [`${layer}.mlp.c_fc_1`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.c_proj`]: 'blk.{n}.ffn_down',
  },
  computed: 'rope-freqs',
  tokenizer: 'bpe',
}

/** Which layers see a window only: a number, or letters such as LLLG, say so where no list does. */
function slidingLayers(config: Config): readonly boolean[] | undefined {
  const { layer_types: types, sliding_window_pattern: pattern } = config
  if (config.sliding_window == null) return undefined
  if (Array.isArray(types)) return types.map((type) => type === 'sliding_attention')
  const layers = Math.min(num(config, 'num_hidden_layers') || 0, 10_000)
  if (typeof pattern === 'string' && pattern !== '')
    return Array.from({ length: layers }, (_, i) => pattern[i % pattern.length] === 'L')
  if (typeof pattern === 'number' && pattern > 0)
    return Array.from({ length: layers }, (_, i) => (i + 1) % pattern !== 0)
  return undefined
}

export const exaone4: Family = {
  architecture: 'exaone4',
  classes: ['Exaone4ForCausalLM'],
  configs: {
    exaone4: {
      num_hidden_layers: 32,
      max_position_embeddings: 2048,
      max_length: 20,
      hidden_size: 4096,
      intermediate_size: 16384,
      num_attention_heads: 32,
      num_key_value_heads: 32,
      rms_norm_eps: 1e-5,
      rope_theta: 10000,
      rope_scaling: null,
      sliding_window: 4096,
      sliding_window_pattern: 4,
      vocab_size: 102400,
    },
  },
  keys: [
    ...commonKeys,
    key.vocabulary,
    { ...key.slidingWindow, absent: { sliding_window: null } },
    {
      key: 'attention.sliding_window_pattern',
      type: 'bools',
      value: ({ config }) => slidingLayers(config),
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
  computed: 'rope-freqs',
  tokenizer: 'bpe',
}

/** K-EXAONE: experts behind a few dense layers, and one layer more that predicts further tokens. */
export const exaoneMoe: Family = {
  architecture: 'exaone-moe',
  classes: ['ExaoneMoEForCausalLM', 'ExaoneMoeForCausalLM'],
  configs: { exaone_moe: {} },
  settings: [...decoderSettings, 'num_experts', 'num_experts_per_tok'],
  ...countsFurtherLayers,
  named,
  keys: [
    ...exaone4.keys,
    { ...key.expertFeedForward, required: true },
    { key: 'expert_shared_count', type: 'u32', from: ['num_shared_experts'], required: true },
    {
      key: 'expert_shared_feed_forward_length',
      type: 'u32',
      value: ({ config }) => num(config, 'moe_intermediate_size') * num(config, 'num_shared_experts'),
      back: () => ({}),
    },
    { key: 'expert_weights_scale', type: 'f32', from: ['routed_scaling_factor'], required: true },
    { key: 'expert_weights_norm', type: 'bool', from: ['norm_topk_prob'], required: true },
    {
      key: 'leading_dense_block_count',
      type: 'u32',
      from: ['first_k_dense_replace', 'first_last_k_dense_replace'],
      value: ({ config }) => find(config, ['first_k_dense_replace', 'first_last_k_dense_replace']) ?? 0,
    },
    { ...furtherLayers, value: ({ config }) => config.num_nextn_predict_layers ?? 0 },
    key.noRopeScaling,
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    ...headNormNames,
    ...gatedMlpNames,
    ...expertNames,
    ...sharedExpertsNames,
    'model.layers.{n}.mlp.e_score_correction_bias': 'blk.{n}.exp_probs_b.bias',
    'model.layers.{n}.mlp.gate.e_score_correction_bias': 'blk.{n}.exp_probs_b.bias',
    ...furtherNames,
  },
  computed: 'rope-freqs',
  tokenizer: 'bpe',
}
