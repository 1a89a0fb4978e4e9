// Nemotron-H and Nemotron 3: every layer is one of Mamba 2, attention, or a feed-forward part without a gate, in the larger models with experts.
import { headSize, maxOf, num, numberIn } from '../../facts.js'
import type { Config, Family, KeyRule, NameTable } from '../../family.js'
import { graniteMoeKeys, withoutHeadSize } from '../decoders/granite.js'
import { anyFurtherLayers } from '../further-layers.js'
import { paddedVocabulary, statedVocabulary } from './granite-hybrid.js'

const layer = 'backbone.layers.{n}'
const mixer = `${layer}.mixer`

type Kind = 'mamba' | 'attention' | 'feed-forward'

const letters: Readonly<Record<string, Kind>> = { M: 'mamba', '*': 'attention', '-': 'feed-forward', E: 'feed-forward' }
const words: Readonly<Record<string, Kind>> = { mamba: 'mamba', attention: 'attention', moe: 'feed-forward' }

/** What each layer is: a text with a letter for each says so, or a list. */
function kindsOf(config: Config): readonly (Kind | undefined)[] {
  const { hybrid_override_pattern: pattern, layers_block_type: list } = config
  const kinds =
    typeof pattern === 'string' && pattern !== ''
      ? Array.from(pattern, (letter) => letters[letter])
      : (Array.isArray(list) ? list : []).map((word) => words[String(word)])
  return kinds
}

const further = (config: Config): number => (isSparse(config) && numberIn(config, 'num_nextn_predict_layers')) || 0

const isSparse = (config: Config): boolean => 'num_experts_per_tok' in config

/** A number for each layer; those that predict further tokens have both attention and experts. */
const perLayer = (config: Config, kind: Kind, value: number): readonly number[] => [
  ...kindsOf(config).map((each) => (each === kind ? value : 0)),
  ...Array.from({ length: further(config) }, () => value),
]

const kvHeads: KeyRule = {
  key: 'attention.head_count_kv',
  type: 'i32s',
  value: ({ config }) => perLayer(config, 'attention', num(config, 'num_key_value_heads')),
  back: (value) => ({ num_key_value_heads: maxOf(listOf(value)), kv_heads_of_layers: value }),
}

const feedForward = (from: string): KeyRule => ({
  key: 'feed_forward_length',
  type: 'i32s',
  value: ({ config }) => perLayer(config, 'feed-forward', num(config, from)),
  back: (value) => ({ [from]: maxOf(listOf(value)), widths_of_layers: value }),
})

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** With the pattern that the lists stand for. */
const patterned =
  (letter: '-' | 'E'): NonNullable<Family['unsettle']> =>
  ({ kv_heads_of_layers: heads, widths_of_layers: widths, ...config }) => {
    const layers = num(config, 'num_hidden_layers') - (letter === 'E' ? further(config) : 0)
    const [kv, ff] = [listOf(heads), listOf(widths)]
    const pattern = Array.from({ length: Math.min(layers, kv.length) }, (_, i) =>
      Number(kv[i]) > 0 ? '*' : Number(ff[i]) > 0 ? letter : 'M',
    )
    return { ...config, num_hidden_layers: layers, hybrid_override_pattern: pattern.join('') }
  }

const context: KeyRule = {
  key: 'context_length',
  type: 'u32',
  from: ['max_position_embeddings'],
  value: ({ config }) => (kindsOf(config).every((kind) => kind === 'attention') ? undefined : 2 ** 20),
}

const ssm: readonly KeyRule[] = [
  { key: 'ssm.conv_kernel', type: 'u32', from: ['conv_kernel'], required: true },
  { key: 'ssm.state_size', type: 'u32', from: ['ssm_state_size', 'state_size'], required: true },
  { key: 'ssm.group_count', type: 'u32', from: ['n_groups'], required: true },
  {
    key: 'ssm.inner_size',
    type: 'u32',
    value: ({ config }) => num(config, 'mamba_num_heads') * num(config, 'mamba_head_dim'),
    back: (value, config) => ({ mamba_head_dim: Number(value) / num(config, 'mamba_num_heads') }),
    required: true,
  },
  { key: 'ssm.time_step_rank', type: 'u32', from: ['mamba_num_heads'], required: true },
  { key: 'rope.scaling.finetuned', type: 'bool', value: () => false, back: () => ({}) },
]

const headDim: readonly KeyRule[] = [
  { key: 'attention.key_length', type: 'u32', from: ['head_dim', 'attention_head_dim'], required: true },
  { key: 'attention.value_length', type: 'u32', from: ['head_dim', 'attention_head_dim'], required: true },
]

const keysWith = (feedForward: KeyRule, more: readonly KeyRule[]): readonly KeyRule[] => {
  const own = [statedVocabulary, kvHeads, feedForward]
  const isStated = new Set(headDim.map(({ key }) => key))
  return [
    ...graniteMoeKeys
      .filter(({ key }) => !isStated.has(key))
      .map((rule) =>
        rule.key === 'rope.dimension_count'
          ? { ...rule, value: ({ config }: { config: Config }) => headSize(config), back: () => ({}) }
          : (own.find(({ key }) => key === rule.key) ?? rule),
      ),
    ...ssm,
    context,
    ...headDim,
    ...more,
  ]
}

const names: NameTable = {
  'backbone.embeddings': 'token_embd',
  'backbone.norm_f': 'output_norm',
  lm_head: 'output',
  [`${layer}.norm`]: 'blk.{n}.attn_norm',
  [`${mixer}.in_proj`]: 'blk.{n}.ssm_in',
  [`${mixer}.conv1d.weight`]: { to: 'blk.{n}.ssm_conv1d.weight', by: 'squeeze' },
  [`${mixer}.conv1d`]: 'blk.{n}.ssm_conv1d',
  [`${mixer}.dt_bias`]: 'blk.{n}.ssm_dt.bias',
  [`${mixer}.A_log`]: { to: 'blk.{n}.ssm_a', by: 'minus-exp-column' },
  [`${mixer}.D`]: { to: 'blk.{n}.ssm_d', by: 'column' },
  [`${mixer}.norm.weight`]: { to: 'blk.{n}.ssm_norm.weight', by: 'norm-groups' },
  [`${mixer}.out_proj`]: 'blk.{n}.ssm_out',
  [`${mixer}.q_proj`]: { to: 'blk.{n}.attn_q', by: 'permute-heads' },
  [`${mixer}.k_proj`]: { to: 'blk.{n}.attn_k', by: 'permute-kv-heads' },
  [`${mixer}.v_proj`]: 'blk.{n}.attn_v',
  [`${mixer}.o_proj`]: 'blk.{n}.attn_output',
  [`${mixer}.up_proj`]: 'blk.{n}.ffn_up',
  [`${mixer}.down_proj`]: 'blk.{n}.ffn_down',
}

const sparseNames: NameTable = {
  ...names,
  [`${mixer}.gate`]: 'blk.{n}.ffn_gate_inp',
  [`${mixer}.gate.e_score_correction_bias`]: 'blk.{n}.exp_probs_b.bias',
  [`${mixer}.fc1_latent_proj`]: 'blk.{n}.ffn_latent_down',
  [`${mixer}.fc2_latent_proj`]: 'blk.{n}.ffn_latent_up',
  [`${mixer}.experts.{e}.down_proj`]: { to: 'blk.{n}.ffn_down_exps', stack: true },
  [`${mixer}.experts.{e}.up_proj`]: { to: 'blk.{n}.ffn_up_exps', stack: true },
  [`${mixer}.shared_experts.down_proj`]: 'blk.{n}.ffn_down_shexp',
  [`${mixer}.shared_experts.up_proj`]: 'blk.{n}.ffn_up_shexp',
  [`${layer}.enorm`]: 'blk.{n}.nextn.enorm',
  [`${layer}.hnorm`]: 'blk.{n}.nextn.hnorm',
  [`${layer}.eh_proj`]: 'blk.{n}.nextn.eh_proj',
  [`${layer}.post_attention_norm`]: 'blk.{n}.post_attention_norm',
  [`${layer}.shared_head_norm`]: 'blk.{n}.nextn.shared_head_norm',
}

/** The layer that predicts further tokens is stored in two parts beside the others. */
function named(name: string, config: Config): string {
  const [, part, rest] = /^mtp\.layers\.([01])\.(.+)$/.exec(name) ?? []
  if (rest === undefined) return name
  const own = part === '1' ? { 'norm.weight': 'post_attention_norm.weight' }[rest] : undefined
  const clean = rest === 'final_layernorm.weight' ? 'shared_head_norm.weight' : (own ?? rest)
  return `backbone.layers.${num(config, 'num_hidden_layers')}.${clean}`
}

const settings = [
  'num_hidden_layers',
  'max_position_embeddings',
  'hidden_size',
  'num_attention_heads',
  'num_key_value_heads',
  'norm_eps',
  'layer_norm_epsilon',
  'rope_theta',
  'n_routed_experts',
  'num_experts_per_tok',
  'head_dim',
]

const withHeads = (config: Config): Config => ({
  ...paddedVocabulary(withoutHeadSize(config), 8),
  head_dim: config.head_dim ?? config.attention_head_dim,
})

const hybrid: Omit<Family, 'architecture' | 'keys' | 'tensors'> = {
  classes: ['NemotronHForCausalLM'],
  configs: { nemotron_h: {} },
  settings,
  settle: (config) => {
    const { layers_block_type: list } = config
    return withHeads(Array.isArray(list) ? { ...config, num_hidden_layers: list.length } : config)
  },
  mayLack: /\.(attn_(q|k|v|output)|ffn_(up|down)|post_attention_norm)\./,
  tokenizer: 'bpe',
}

export const nemotronH: Family = {
  ...hybrid,
  architecture: 'nemotron_h',
  isMeant: (config) => !isSparse(config),
  unsettle: patterned('-'),
  keys: keysWith(feedForward('intermediate_size'), []),
  tensors: names,
  tokenizerEntries: { after: { add_bos_token: true } },
}

const required = (key: string, type: 'u32' | 'f32' | 'bool', from: string): KeyRule => ({
  key,
  type,
  from: [from],
  required: true,
})

export const nemotronHMoe: Family = {
  ...hybrid,
  architecture: 'nemotron_h_moe',
  isMeant: isSparse,
  layers: (config) => num(config, 'num_hidden_layers') + further(config),
  unsettle: patterned('E'),
  named,
  castsFurtherRouters: true,
  keys: keysWith(feedForward('moe_intermediate_size'), [
    required('expert_used_count', 'u32', 'num_experts_per_tok'),
    required('expert_feed_forward_length', 'u32', 'moe_intermediate_size'),
    required('expert_shared_feed_forward_length', 'u32', 'moe_shared_expert_intermediate_size'),
    required('expert_count', 'u32', 'n_routed_experts'),
    required('expert_shared_count', 'u32', 'n_shared_experts'),
    required('expert_weights_norm', 'bool', 'norm_topk_prob'),
    required('expert_weights_scale', 'f32', 'routed_scaling_factor'),
    required('expert_group_count', 'u32', 'n_group'),
    { key: 'moe_latent_size', type: 'u32', from: ['moe_latent_size'] },
    anyFurtherLayers,
  ]),
  tensors: sparseNames,
}
