// MiniCPM 3: attention on a compressed form of q, k and v.
import { num, numberIn } from '../../facts.js'
import type { Family } from '../../family.js'
import { key } from '../shared-keys.js'
import { gatedMlpNames, outerNames, preNormNames } from '../shared-names.js'

const attention = 'model.layers.{n}.self_attn'

export const miniCpm3: Family = {
  architecture: 'minicpm3',
  classes: ['MiniCPM3ForCausalLM'],
  configs: { minicpm3: {} },
  settings: ['num_hidden_layers'],
  keys: [
    key.fileType,
    key.context,
    key.embedding,
    key.blocks,
    key.feedForward,
    key.heads,
    key.kvHeads,
    key.rmsEpsilon,
    key.vocabulary,
    { key: 'attention.q_lora_rank', type: 'u32', from: ['q_lora_rank'] },
    { key: 'attention.kv_lora_rank', type: 'u32', from: ['kv_lora_rank'], required: true },
    {
      key: 'attention.key_length',
      type: 'u32',
      value: ({ config }) => num(config, 'qk_nope_head_dim') + num(config, 'qk_rope_head_dim'),
      back: (value, config) => ({ qk_nope_head_dim: Number(value) - (numberIn(config, 'qk_rope_head_dim') ?? 0) }),
      required: true,
    },
    { key: 'rope.dimension_count', type: 'u32', from: ['qk_rope_head_dim'], required: true },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    [`${attention}.q_a_proj`]: 'blk.{n}.attn_q_a',
    [`${attention}.q_a_layernorm`]: 'blk.{n}.attn_q_a_norm',
    [`${attention}.q_b_proj`]: 'blk.{n}.attn_q_b',
    [`${attention}.kv_a_proj_with_mqa`]: 'blk.{n}.attn_kv_a_mqa',
    [`${attention}.kv_a_layernorm`]: 'blk.{n}.attn_kv_a_norm',
    [`${attention}.kv_b_proj`]: 'blk.{n}.attn_kv_b',
    [`${attention}.o_proj`]: 'blk.{n}.attn_output',
    ...gatedMlpNames,
  },
  computed: 'compressed-rope-factors',
  tokenizer: 'sentencepiece',
}
