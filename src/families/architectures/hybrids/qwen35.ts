// Qwen3.5, dense and with experts: Qwen3-Next with its linear attention in more tensors. Several heads of v go with each of k; checkpoints have
// them side by side, llama.cpp takes turns.
import { isObject } from '../../facts.js'
import type { Config, Family, KeyRule } from '../../family.js'
import { fusedExpertNames, gatedMlpNames } from '../shared-names.js'
import { qwen3Next } from './qwen3-next.js'

const linear = 'model.layers.{n}.linear_attn'

/** What the class takes where the file does not say how positions are spread over time, height and width. */
const sections: KeyRule = {
  key: 'rope.dimension_sections',
  type: 'i32s',
  value: ({ rope }) => (Array.isArray(rope.mrope_section) ? undefined : [11, 11, 10, 0]),
  back: (value, { rope_scaling: known }: Config) => ({
    rope_scaling: { ...(isObject(known) && known), mrope_section: value },
  }),
}

const settings = [
  'num_hidden_layers',
  'max_position_embeddings',
  'hidden_size',
  'intermediate_size',
  'num_attention_heads',
  'num_key_value_heads',
  'head_dim',
  'rms_norm_eps',
  'rope_theta',
  'num_experts',
  'num_experts_per_tok',
]

const { [`${linear}.in_proj_qkvz.weight`]: _qkvz, [`${linear}.in_proj_ba`]: _ba, ...names } = qwen3Next.tensors

const qwen35With = (architecture: string, classes: readonly string[], type: string): Family => ({
  ...qwen3Next,
  architecture,
  classes,
  configs: { [type]: {}, [`${type}_text`]: {} },
  settings,
  keys: [...qwen3Next.keys, sections],
  tensors: {
    // Its models are published with the experts of a layer in one tensor.
    ...fusedExpertNames,
    ...names,
    ...gatedMlpNames,
    [`${linear}.in_proj_qkv`]: { to: 'blk.{n}.attn_qkv', by: 'tile-values' },
    [`${linear}.in_proj_z`]: { to: 'blk.{n}.attn_gate', by: 'tile-heads' },
    [`${linear}.in_proj_a`]: { to: 'blk.{n}.ssm_alpha', by: 'tile-heads' },
    [`${linear}.in_proj_b`]: { to: 'blk.{n}.ssm_beta', by: 'tile-heads' },
    [`${linear}.conv1d.weight`]: { to: 'blk.{n}.ssm_conv1d.weight', by: 'squeeze-tile-values' },
    [`${linear}.dt_bias`]: { to: 'blk.{n}.ssm_dt.bias', by: 'tile-heads' },
    [`${linear}.A_log`]: { to: 'blk.{n}.ssm_a', by: 'minus-exp-tile-heads' },
    [`${linear}.out_proj`]: { to: 'blk.{n}.ssm_out', by: 'tile-columns' },
  },
})

export const qwen35: Family = qwen35With('qwen35', ['Qwen3_5ForConditionalGeneration', 'Qwen3_5ForCausalLM'], 'qwen3_5')

export const qwen35Moe: Family = qwen35With(
  'qwen35moe',
  ['Qwen3_5MoeForConditionalGeneration', 'Qwen3_5MoeForCausalLM'],
  'qwen3_5_moe',
)
