// Gemma 3n: several streams side by side (AltUp), small inputs for each layer, and layers that share k and v. Its norms are stored as they are.
import { num, numberIn } from '../../facts.js'
import type { Config, Family, KeyRule } from '../../family.js'
import { inverseErf } from '../../inverse-erf.js'
import { attentionNames, gatedMlpNames, headNormNames } from '../shared-names.js'
import { gemma3 } from './gemma.js'

const layer = 'model.layers.{n}'
const maxLayers = 10_000
const layersOf = (config: Config): number => Math.min(num(config, 'num_hidden_layers') || 0, maxLayers)

/** Every fifth layer sees everything. */
const layerTypes = (config: Config): readonly string[] =>
  Array.from({ length: layersOf(config) }, (_, i) => ((i + 1) % 5 ? 'sliding_attention' : 'full_attention'))

/** In the first ten layers of a deep model, only the largest twentieth of the gates counts. */
function sparsity(config: Config): readonly number[] {
  const layers = layersOf(config)
  return Array.from({ length: layers }, (_, i) => (layers > 10 && i < 10 ? 0.95 : 0))
}

/** From one size for all layers to one for each. */
function settle(config: Config): Config {
  const size = numberIn(config, 'intermediate_size')
  return size === undefined ? config : { ...config, intermediate_size: Array(layersOf(config)).fill(size) }
}

const { fround } = Math

/** How many standard deviations above the mean a share of a normal distribution ends, in single precision. */
const deviations = (share: number): number =>
  fround(fround(inverseErf(fround(fround(2 * fround(share)) - 1))) * fround(Math.SQRT2))

/** The share in thousandths that leads to the same number; others go into the file for what a directory has no place for. */
function shareOf(scale: unknown): number {
  for (let thousandths = 1; thousandths < 1000; thousandths++)
    if (deviations(thousandths / 1000) === fround(Number(scale))) return thousandths / 1000
  return 0
}

const own: readonly KeyRule[] = [
  { key: 'altup.active_idx', type: 'u32', from: ['altup_active_idx'], required: true },
  { key: 'altup.num_inputs', type: 'u32', from: ['altup_num_inputs'], required: true },
  { key: 'embedding_length_per_layer_input', type: 'u32', from: ['hidden_size_per_layer_input'], required: true },
  { key: 'attention.shared_kv_layers', type: 'u32', from: ['num_kv_shared_layers'], required: true },
  {
    key: 'activation_sparsity_scale',
    type: 'f32s',
    value: ({ config: { activation_sparsity_pattern: shares } }) =>
      Array.isArray(shares) ? shares.map((share) => (typeof share === 'number' ? deviations(share) : share)) : shares,
    back: (value) => (Array.isArray(value) ? { activation_sparsity_pattern: value.map(shareOf) } : {}),
    required: true,
  },
  {
    key: 'attention.sliding_window_pattern',
    type: 'bools',
    value: ({ config: { layer_types: types } }) =>
      Array.isArray(types) ? types.map((type) => type === 'sliding_attention') : undefined,
    back: (value) =>
      Array.isArray(value)
        ? { layer_types: value.map((isWindow) => (isWindow ? 'sliding_attention' : 'full_attention')) }
        : {},
  },
]

const feedForward: KeyRule = {
  key: 'feed_forward_length',
  type: 'i32s',
  from: ['intermediate_size'],
}

export const gemma3n: Family = {
  architecture: 'gemma3n',
  classes: ['Gemma3nForCausalLM', 'Gemma3nForConditionalGeneration'],
  configs: {
    gemma3n_text: {
      num_hidden_layers: 35,
      max_position_embeddings: 32768,
      max_length: 20,
      hidden_size: 2048,
      hidden_size_per_layer_input: 256,
      intermediate_size: 16384,
      num_attention_heads: 8,
      num_key_value_heads: 2,
      head_dim: 256,
      rms_norm_eps: 1e-6,
      rope_theta: 1e6,
      rope_scaling: null,
      rope_local_base_freq: 10000,
      sliding_window: 512,
      layer_types: layerTypes,
      final_logit_softcapping: 30,
      altup_active_idx: 0,
      altup_num_inputs: 4,
      num_kv_shared_layers: 15,
      activation_sparsity_pattern: sparsity,
      vocab_size: 262400,
      vocab_size_per_layer_input: 262144,
    },
  },
  settle,
  unsettle: (config) => ({ ...config, vocab_size_per_layer_input: config.vocab_size }),
  keys: [...gemma3.keys.map((rule) => (rule.key === feedForward.key ? feedForward : rule)), ...own],
  tensors: {
    'model.embed_tokens': { to: 'token_embd', by: 'pad-vocabulary' },
    'model.embed_tokens_per_layer': { to: 'per_layer_token_embd', by: 'pad-vocabulary' },
    'model.per_layer_model_projection': 'per_layer_model_proj',
    'model.per_layer_projection_norm': 'per_layer_proj_norm',
    'model.altup_projections.{e}': { to: 'altup_proj', stack: true, count: 3 },
    'model.altup_unembed_projections.{e}': { to: 'altup_unembd_proj', stack: true, count: 3 },
    'model.norm': 'output_norm',
    lm_head: 'output',
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.post_attention_layernorm`]: 'blk.{n}.post_attention_norm',
    [`${layer}.pre_feedforward_layernorm`]: 'blk.{n}.ffn_norm',
    [`${layer}.post_feedforward_layernorm`]: 'blk.{n}.post_ffw_norm',
    ...attentionNames,
    ...headNormNames,
    ...gatedMlpNames,
    [`${layer}.per_layer_input_gate`]: 'blk.{n}.inp_gate',
    [`${layer}.per_layer_projection`]: 'blk.{n}.proj',
    [`${layer}.post_per_layer_input_norm`]: 'blk.{n}.post_norm',
    [`${layer}.altup.correction_coefs`]: 'blk.{n}.altup_correct_coef',
    [`${layer}.altup.correct_output_scale`]: 'blk.{n}.altup_correct_scale.weight',
    [`${layer}.altup.prediction_coefs`]: 'blk.{n}.altup_predict_coef',
    [`${layer}.altup.modality_router`]: 'blk.{n}.altup_router',
    [`${layer}.altup.router_norm`]: 'blk.{n}.altup_router_norm',
    [`${layer}.laurel.linear_left`]: 'blk.{n}.laurel_l',
    [`${layer}.laurel.linear_right`]: 'blk.{n}.laurel_r',
    [`${layer}.laurel.post_laurel_norm`]: 'blk.{n}.laurel_post_norm',
  },
  tokenizer: 'gemma-3',
}
