// PLM: attention on a compressed form of k and v, and a feed-forward part without a gate.
import { num } from '../../facts.js'
import type { Family } from '../../family.js'
import { commonKeys, decoderSettings, key } from '../shared-keys.js'
import { outerNames, preNormNames } from '../shared-names.js'

const attention = 'model.layers.{n}.self_attn'

export const plm: Family = {
  architecture: 'plm',
  classes: ['PLMForCausalLM'],
  configs: { plm: {} },
  settings: [...decoderSettings],
  keys: [
    ...commonKeys,
    key.vocabulary,
    { key: 'attention.kv_lora_rank', type: 'u32', from: ['kv_lora_rank'], required: true },
    {
      key: 'attention.key_length',
      type: 'u32',
      value: ({ config }) => num(config, 'qk_nope_head_dim') + num(config, 'qk_rope_head_dim'),
      back: (value, config) => ({ qk_nope_head_dim: Number(value) - num(config, 'qk_rope_head_dim') }),
      required: true,
    },
    { key: 'attention.value_length', type: 'u32', from: ['v_head_dim'], required: true },
    { key: 'rope.dimension_count', type: 'u32', from: ['qk_rope_head_dim'], required: true },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    [`${attention}.q_proj`]: 'blk.{n}.attn_q',
    [`${attention}.kv_a_proj_with_mqa`]: 'blk.{n}.attn_kv_a_mqa',
    [`${attention}.kv_a_layernorm`]: 'blk.{n}.attn_kv_a_norm',
    [`${attention}.kv_b_proj`]: 'blk.{n}.attn_kv_b',
    [`${attention}.o_proj`]: 'blk.{n}.attn_output',
    'model.layers.{n}.mlp.up_proj': 'blk.{n}.ffn_up',
    'model.layers.{n}.mlp.down_proj': 'blk.{n}.ffn_down',
  },
  tokenizer: 'bpe',
}
