// Ling, which its configuration calls BailingMoe: experts behind a few dense layers, and q, k and v in one matrix.
import { headSize, num, numberIn } from '../../facts.js'
import type { Family, KeyRule, NameTable } from '../../family.js'
import { countsFurtherLayers, furtherLayers } from '../further-layers.js'
import { commonKeys, decoderSettings, key } from '../shared-keys.js'
import { expertNames, gatedMlpNames, preNormNames, sharedExpertsNames } from '../shared-names.js'

const layer = 'model.layers.{n}'

const names: NameTable = {
  'model.word_embeddings': 'token_embd',
  lm_head: 'output',
  'model.norm': 'output_norm',
  ...preNormNames,
  [`${layer}.attention.dense`]: 'blk.{n}.attn_output',
  ...expertNames,
  ...sharedExpertsNames,
}

const settings = [...decoderSettings, 'num_experts', 'num_experts_per_tok']

const ropeSize = (factor: number): KeyRule => ({
  key: 'rope.dimension_count',
  type: 'u32',
  value: ({ config, rope }) => {
    const share = factor === 1 ? 1 : (numberIn(rope, 'partial_rotary_factor') ?? factor)
    return Math.trunc((numberIn(config, 'head_dim') ?? headSize(config)) * share)
  },
  back: (value, config) => {
    const share = Number(value) / (numberIn(config, 'head_dim') ?? headSize(config))
    return factor === 1 ? {} : { partial_rotary_factor: share }
  },
  required: true,
})
const leadingDense: KeyRule = {
  key: 'leading_dense_block_count',
  type: 'u32',
  from: ['first_k_dense_replace'],
  required: true,
}
const sharedCount: KeyRule = { key: 'expert_shared_count', type: 'u32', from: ['num_shared_experts'], required: true }
const norm: KeyRule = { key: 'expert_weights_norm', type: 'bool', from: ['norm_topk_prob'], required: true }

export const bailingMoe: Family = {
  architecture: 'bailingmoe',
  classes: ['BailingMoeForCausalLM'],
  configs: { bailing_moe: {} },
  settings,
  keys: [
    ...commonKeys,
    ropeSize(1),
    leadingDense,
    key.vocabulary,
    { ...key.expertFeedForward, required: true },
    { key: 'expert_weights_scale', type: 'f32', value: () => 1, back: () => ({}) },
    sharedCount,
    norm,
  ],
  tensors: {
    ...names,
    [`${layer}.attention.query_key_value`]: {
      to: ['blk.{n}.attn_q', 'blk.{n}.attn_k', 'blk.{n}.attn_v'],
      by: 'split-joined-qkv',
    },
  },
  tokenizer: 'bpe',
}

export const bailingMoe2: Family = {
  architecture: 'bailingmoe2',
  classes: ['BailingMoeV2ForCausalLM'],
  configs: { bailing_moe: {} },
  settings,
  ...countsFurtherLayers,
  keys: [
    ...commonKeys,
    ropeSize(0.5),
    leadingDense,
    key.vocabulary,
    { ...key.expertFeedForward, required: true },
    {
      key: 'expert_shared_feed_forward_length',
      type: 'u32',
      from: ['moe_shared_expert_intermediate_size'],
      value: ({ config }) =>
        numberIn(config, 'moe_shared_expert_intermediate_size') ??
        num(config, 'moe_intermediate_size') * num(config, 'num_shared_experts'),
    },
    { key: 'expert_weights_scale', type: 'f32', from: ['routed_scaling_factor'], required: true },
    sharedCount,
    norm,
    furtherLayers,
  ],
  tensors: {
    ...names,
    ...gatedMlpNames,
    [`${layer}.attention.query_key_value`]: 'blk.{n}.attn_qkv',
    [`${layer}.attention.query_layernorm`]: 'blk.{n}.attn_q_norm',
    [`${layer}.attention.key_layernorm`]: 'blk.{n}.attn_k_norm',
    [`${layer}.mlp.gate.expert_bias`]: 'blk.{n}.exp_probs_b.bias',
    [`${layer}.final_layernorm`]: 'blk.{n}.layer_output_norm',
    [`${layer}.eh_proj`]: 'blk.{n}.nextn.eh_proj',
    [`${layer}.enorm`]: 'blk.{n}.nextn.enorm',
    [`${layer}.hnorm`]: 'blk.{n}.nextn.hnorm',
  },
  // Only layers at the end have it.
  mayLack: /\.layer_output_norm\./,
  tokenizer: 'bpe',
}
