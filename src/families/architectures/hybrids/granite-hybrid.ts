// Granite 4, and Bamba, which it comes from: layers of Mamba 2 with attention in some, and experts or one feed-forward part in each. Where all
// layers have attention, the file is one of Granite.

import { headSize, maxOf, num, numberIn } from '../../facts.js'
import type { Config, Family, KeyRule, NameTable } from '../../family.js'
import { graniteMoeKeys, withoutHeadSize } from '../decoders/granite.js'
import { llamaKeys } from '../decoders/llama.js'
import { decoderSettings } from '../shared-keys.js'
import { gatedMlpNames, outerNames, permutedAttentionNames, preNormNames } from '../shared-names.js'

const layer = 'model.layers.{n}'
const maxLayers = 10_000

const layersOf = (config: Config): number => Math.min(num(config, 'num_hidden_layers') || 0, maxLayers)

/** For each layer, whether it has attention. */
function attentionLayers(config: Config): readonly boolean[] {
  const { layer_types: types, attn_layer_indices: indices } = config
  if (Array.isArray(types) && types.length > 0) return types.map((type) => type === 'attention')
  const [offset, period] = [num(config, 'attn_layer_offset'), num(config, 'attn_layer_period')]
  const isListed = Array.isArray(indices) && indices.length > 0
  return Array.from({ length: layersOf(config) }, (_, i) => (isListed ? indices.includes(i) : i % period === offset))
}

const isHybrid = (config: Config): boolean => attentionLayers(config).includes(false)

/** Where each layer says whether it has attention. */
const listedTypes = (value: unknown): Config =>
  Array.isArray(value)
    ? {
        num_key_value_heads: maxOf(value),
        layer_types: value.map((heads) => (heads > 0 ? 'attention' : 'mamba')),
      }
    : {}

/** Where those that have attention are listed. */
const listedLayers = (value: unknown): Config =>
  Array.isArray(value)
    ? {
        num_key_value_heads: maxOf(value),
        attn_layer_indices: value.flatMap((heads, i) => (heads > 0 ? [i] : [])),
      }
    : {}

const kvHeads = (back: (value: unknown) => Config): KeyRule => ({
  key: 'attention.head_count_kv',
  type: 'i32s',
  value: ({ config }) => attentionLayers(config).map((has) => (has ? config.num_key_value_heads : 0)),
  back,
})

/** Positions count only where something is rotated; a state has no end. */
const context: KeyRule = {
  key: 'context_length',
  type: 'u32',
  from: ['max_position_embeddings'],
  value: ({ config }) => (rotates(config) ? undefined : 2 ** 20),
}

const rotates = (config: Config): boolean => config.model_type === 'bamba' || !isHybrid(config)

/** The vocabulary of the tensors is rounded up; the entry is not. */
export const statedVocabulary: KeyRule = {
  key: 'vocab_size',
  type: 'u32',
  from: ['vocab_size'],
  value: ({ config }) => config.stated_vocab_size,
  required: true,
}

function settle(config: Config): Config {
  return paddedVocabulary(withoutHeadSize(config), isHybrid(config) ? 8 : 1)
}

/** With as many tokens as the tensors have, which is a multiple. */
export function paddedVocabulary(config: Config, by: number): Config {
  const size = numberIn(config, 'vocab_size')
  return size === undefined ? config : { ...config, stated_vocab_size: size, vocab_size: Math.ceil(size / by) * by }
}

const innerSize = (config: Config): number => num(config, 'mamba_expand') * num(config, 'hidden_size')

const mambaKeys: readonly KeyRule[] = [
  { key: 'ssm.conv_kernel', type: 'u32', from: ['mamba_d_conv'], required: true },
  { key: 'ssm.state_size', type: 'u32', from: ['mamba_d_state'], required: true },
  { key: 'ssm.group_count', type: 'u32', from: ['mamba_n_groups'], required: true },
  {
    key: 'ssm.inner_size',
    type: 'u32',
    value: ({ config }) => innerSize(config),
    back: (value, config) => ({ mamba_expand: Number(value) / num(config, 'hidden_size') }),
    required: true,
  },
  { key: 'ssm.time_step_rank', type: 'u32', from: ['mamba_n_heads'], required: true },
]

const rotatedSize: KeyRule = {
  key: 'rope.dimension_count',
  type: 'u32',
  from: ['attn_rotary_emb'],
  value: ({ config }) => config.attn_rotary_emb || headSize(config),
}

const finetuned: KeyRule = {
  key: 'rope.scaling.finetuned',
  type: 'bool',
  value: ({ config }) => rotates(config),
  back: () => ({}),
}

const mixedKeys = (keys: readonly KeyRule[], back: (value: unknown) => Config): readonly KeyRule[] => {
  const own = [statedVocabulary, kvHeads(back)]
  return [...keys.map((rule) => own.find(({ key }) => key === rule.key) ?? rule), ...mambaKeys, finetuned, context]
}

const mamba = `${layer}.mamba`
export const mamba2Names: NameTable = {
  [`${mamba}.in_proj`]: 'blk.{n}.ssm_in',
  [`${mamba}.conv1d.weight`]: { to: 'blk.{n}.ssm_conv1d.weight', by: 'squeeze' },
  [`${mamba}.conv1d`]: 'blk.{n}.ssm_conv1d',
  [`${mamba}.dt_bias`]: 'blk.{n}.ssm_dt.bias',
  [`${mamba}.A_log`]: { to: 'blk.{n}.ssm_a', by: 'minus-exp-column' },
  [`${mamba}.D`]: { to: 'blk.{n}.ssm_d', by: 'column' },
  [`${mamba}.norm.weight`]: { to: 'blk.{n}.ssm_norm.weight', by: 'norm-groups' },
  [`${mamba}.out_proj`]: 'blk.{n}.ssm_out',
}

const moe = `${layer}.block_sparse_moe`
const shared = `${layer}.shared_mlp`
const mixedNames: NameTable = { ...outerNames, ...preNormNames, ...permutedAttentionNames, ...mamba2Names }

const sparseNames: NameTable = {
  ...mixedNames,
  [`${moe}.router.layer`]: 'blk.{n}.ffn_gate_inp',
  [`${moe}.input_linear`]: { to: ['blk.{n}.ffn_gate_exps', 'blk.{n}.ffn_up_exps'], by: 'split-halves' },
  [`${moe}.output_linear`]: 'blk.{n}.ffn_down_exps',
  [`${shared}.input_linear`]: { to: ['blk.{n}.ffn_gate_shexp', 'blk.{n}.ffn_up_shexp'], by: 'split-halves' },
  [`${shared}.output_linear`]: 'blk.{n}.ffn_down_shexp',
}

const denseNames: NameTable = {
  ...mixedNames,
  [`${shared}.input_linear`]: { to: ['blk.{n}.ffn_gate', 'blk.{n}.ffn_up'], by: 'split-halves' },
  [`${shared}.output_linear`]: 'blk.{n}.ffn_down',
}

const settings = [...decoderSettings, 'num_local_experts', 'num_experts_per_tok']

const isSparse = (config: Config): boolean => Boolean(config.num_local_experts)

const graniteHybridWith = (architecture: string, isMeant: (config: Config) => boolean, tensors: NameTable): Family => ({
  architecture,
  classes: ['GraniteMoeHybridForCausalLM'],
  isMeant,
  configs: { granitemoehybrid: {} },
  settings,
  settle,
  keys: mixedKeys(graniteMoeKeys, listedTypes),
  tensors,
  computed: 'rope-freqs',
  mayLack: /\.attn_(q|k|v|output)\./,
  tokenizer: 'mamba-2',
})

export const graniteHybrids: readonly Family[] = [
  graniteHybridWith('granitehybrid', (config) => isHybrid(config) && isSparse(config), sparseNames),
  graniteHybridWith('granitehybrid', (config) => isHybrid(config) && !isSparse(config), denseNames),
  graniteHybridWith('granitemoe', (config) => !isHybrid(config) && isSparse(config), sparseNames),
  graniteHybridWith('granite', (config) => !isHybrid(config) && !isSparse(config), denseNames),
]

export const bamba: Family = {
  architecture: 'granitehybrid',
  classes: ['BambaForCausalLM'],
  configs: { bamba: {} },
  settings,
  settle,
  keys: mixedKeys(
    llamaKeys.map((rule) => (rule.key === rotatedSize.key ? rotatedSize : rule)),
    listedLayers,
  ),
  tensors: {
    ...mixedNames,
    'model.final_layernorm': 'output_norm',
    [`${layer}.pre_ff_layernorm`]: 'blk.{n}.ffn_norm',
    ...Object.fromEntries(
      Object.entries(gatedMlpNames).map(([name, to]) => [name.replace('.mlp.', '.feed_forward.'), to]),
    ),
  },
  mayLack: /\.attn_(q|k|v|output)\./,
  tokenizer: 'mamba-2',
}
