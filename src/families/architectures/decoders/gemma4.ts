// Gemma 4: windows in most layers, heads of another size where all of a text is seen, and in some sizes experts, a small embedding for every
// layer, or layers that share the k and v of others. Its norms multiply by the stored weight itself.
import { isObject, num, numberIn } from '../../facts.js'
import type { Config, Family, KeyRule, NameTable } from '../../family.js'
import { attentionNames, gatedMlpNames, headNormNames, outerNames } from '../shared-names.js'
import { gemma3 } from './gemma.js'

const layer = 'model.layers.{n}'

const typesOf = ({ layer_types: types }: Config): readonly unknown[] => (Array.isArray(types) ? types : [])
const isSliding = (type: unknown): boolean => type === 'sliding_attention'

/** A setting of the layers that see all of a text: under a name of its own, or listed for one of them. */
function fullSetting(config: Config, name: string, listed: string): number | undefined {
  const stated = numberIn(config, name)
  const { per_layer_config: layers } = config
  if (stated !== undefined || !isObject(layers)) return stated
  const types = typesOf(config)
  for (const [index, each] of Object.entries(layers))
    if (types[Number(index)] === 'full_attention' && isObject(each) && listed in each) return numberIn(each, listed)
  return undefined
}

export const fullHeadSize = (config: Config): number | undefined => fullSetting(config, 'global_head_dim', 'head_dim')
const fullKvHeads = (config: Config): number | undefined =>
  fullSetting(config, 'num_global_key_value_heads', 'num_key_value_heads')

const first = (list: readonly unknown[], types: readonly unknown[], sliding: boolean): unknown =>
  list.find((_, i) => isSliding(types[i]) === sliding)

/** Layers that share k and v can have twice the width. */
const feedForward: KeyRule = {
  key: 'feed_forward_length',
  type: 'i32s',
  value: ({ config, layers }) =>
    config.use_double_wide_mlp
      ? Array.from(
          { length: layers },
          (_, i) => num(config, 'intermediate_size') * (i < layers - num(config, 'num_kv_shared_layers') ? 1 : 2),
        )
      : undefined,
  back: (value) =>
    Array.isArray(value)
      ? { intermediate_size: value[0], use_double_wide_mlp: value.some((each) => each !== value[0]) }
      : { intermediate_size: value },
}

const kvHeads: KeyRule = {
  key: 'attention.head_count_kv',
  type: 'i32s',
  value: ({ config }) => {
    const [full, sliding] = [fullKvHeads(config), numberIn(config, 'num_key_value_heads')]
    if (full === undefined || sliding === undefined) return undefined
    return typesOf(config).map((type) => (isSliding(type) ? sliding : full))
  },
  back: (value) => (Array.isArray(value) ? { kv_heads_of_layers: value } : { num_key_value_heads: value }),
}

/** What follows from several entries: which layers have how many heads of k and v, and how much of a head is rotated. */
function unsettle({ kv_heads_of_layers: heads, rope_scaling: rotated, ...config }: Config): Config {
  const types = typesOf(config)
  const rope = isObject(config.rope_parameters) ? config.rope_parameters : {}
  return {
    ...config,
    ...(Array.isArray(heads) && {
      num_key_value_heads: first(heads, types, true) ?? heads[0],
      num_global_key_value_heads: first(heads, types, false) ?? heads[0],
    }),
    rope_parameters: {
      ...rope,
      full_attention: { ...(isObject(rope.full_attention) && rope.full_attention), ...(isObject(rotated) && rotated) },
    },
  }
}

/** Beside the RoPE settings of that kind of layer which are known. */
const ropeOf =
  (kind: 'full_attention' | 'sliding_attention', rest: Config) =>
  (value: unknown, { rope_parameters: known }: Config): Config => ({
    rope_parameters: { ...(isObject(known) && known), [kind]: { ...rest, rope_theta: value } },
  })

const backs: Readonly<Record<string, KeyRule['back']>> = {
  'rope.freq_base': ropeOf('full_attention', { rope_type: 'proportional' }),
  'rope.freq_base_swa': ropeOf('sliding_attention', { rope_type: 'default' }),
  'attention.key_length': (value) => ({ global_head_dim: value }),
  'attention.value_length': () => ({}),
}

const keys: readonly KeyRule[] = [
  ...gemma3.keys,
  { key: 'attention.shared_kv_layers', type: 'u32', from: ['num_kv_shared_layers'], required: true },
  {
    key: 'embedding_length_per_layer_input',
    type: 'u32',
    from: ['hidden_size_per_layer_input'],
    value: ({ config }) => config.hidden_size_per_layer_input || 0,
  },
  {
    key: 'attention.sliding_window_pattern',
    type: 'bools',
    value: ({ config }) => typesOf(config).map(isSliding),
    back: (value) =>
      Array.isArray(value)
        ? { layer_types: value.map((isWindow) => (isWindow ? 'sliding_attention' : 'full_attention')) }
        : {},
    required: true,
  },
  { key: 'attention.key_length', type: 'u32', value: ({ config }) => fullHeadSize(config), required: true },
  { key: 'attention.value_length', type: 'u32', value: ({ config }) => fullHeadSize(config), required: true },
  { key: 'attention.key_length_swa', type: 'u32', from: ['head_dim'], required: true },
  { key: 'attention.value_length_swa', type: 'u32', from: ['head_dim'], required: true },
  {
    key: 'expert_feed_forward_length',
    type: 'u32',
    from: ['expert_intermediate_size', 'moe_intermediate_size'],
  },
  feedForward,
  kvHeads,
  {
    key: 'rope.dimension_count',
    type: 'u32',
    value: ({ config }) => fullHeadSize(config),
    back: () => ({}),
    required: true,
  },
  {
    key: 'rope.dimension_count_swa',
    type: 'u32',
    value: ({ config, rope }) => Math.trunc(num(config, 'head_dim') * (numberIn(rope, 'partial_rotary_factor') ?? 1)),
    back: () => ({}),
    required: true,
  },
]

const names: NameTable = {
  ...outerNames,
  'model.embed_tokens_per_layer': 'per_layer_token_embd',
  'model.per_layer_model_projection': 'per_layer_model_proj',
  'model.per_layer_projection_norm': 'per_layer_proj_norm',
  ...attentionNames,
  ...headNormNames,
  ...gatedMlpNames,
  [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
  [`${layer}.post_attention_layernorm`]: 'blk.{n}.post_attention_norm',
  [`${layer}.pre_feedforward_layernorm`]: 'blk.{n}.ffn_norm',
  [`${layer}.pre_feedforward_layernorm_2`]: 'blk.{n}.pre_ffw_norm_2',
  [`${layer}.post_feedforward_layernorm`]: 'blk.{n}.post_ffw_norm',
  [`${layer}.post_feedforward_layernorm_1`]: 'blk.{n}.post_ffw_norm_1',
  [`${layer}.post_feedforward_layernorm_2`]: 'blk.{n}.post_ffw_norm_2',
  [`${layer}.per_layer_input_gate`]: 'blk.{n}.inp_gate',
  [`${layer}.per_layer_projection`]: 'blk.{n}.proj',
  [`${layer}.post_per_layer_input_norm`]: 'blk.{n}.post_norm',
  [`${layer}.layer_scalar`]: 'blk.{n}.layer_output_scale.weight',
  [`${layer}.router.proj`]: 'blk.{n}.ffn_gate_inp',
  [`${layer}.router.scale`]: 'blk.{n}.ffn_gate_inp.scale',
  [`${layer}.router.per_expert_scale`]: 'blk.{n}.ffn_down_exps.scale',
  [`${layer}.experts.gate_up_proj`]: 'blk.{n}.ffn_gate_up_exps.weight',
  [`${layer}.experts.down_proj`]: 'blk.{n}.ffn_down_exps.weight',
}

export const gemma4: Family = {
  architecture: 'gemma4',
  classes: ['Gemma4ForCausalLM', 'Gemma4ForConditionalGeneration'],
  configs: { gemma4_text: {} },
  unsettle,
  settings: [
    'num_hidden_layers',
    'max_position_embeddings',
    'hidden_size',
    'intermediate_size',
    'num_attention_heads',
    'num_key_value_heads',
    'rms_norm_eps',
    'num_experts',
    'top_k_experts',
    'moe_intermediate_size',
  ],
  keys: keys.map((rule) => (backs[rule.key] ? { ...rule, back: backs[rule.key]! } : rule)),
  tensors: names,
  computed: 'proportional-rope-freqs',
  // Layers take k and v from others, or v from k.
  mayLack: /\.attn_(k|v|k_norm)\./,
  tokenizer: 'gemma-4',
}
