// Baichuan, whose q, k and v are one matrix, and Orion, which is Llama with other norms.
import { headSize } from '../../facts.js'
import type { Family, KeyRule } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import { attentionNames, gatedMlpNames, outerNames, preNormNames } from '../shared-names.js'

const dataLayout: KeyRule = { key: 'tensor_data_layout', type: 'str', value: () => 'Meta AI original pth' }
const settings = ['num_hidden_layers', 'hidden_size', 'intermediate_size', 'num_attention_heads', 'rms_norm_eps']

export const baichuan: Family = {
  architecture: 'baichuan',
  classes: ['BaichuanForCausalLM', 'BaiChuanForCausalLM'],
  configs: { baichuan: {} },
  settings: [...settings, 'max_position_embeddings', 'model_max_length'],
  keys: [
    ...commonKeys,
    dataLayout,
    { key: 'rope.dimension_count', type: 'u32', value: ({ config }) => headSize(config), required: true },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    'model.layers.{n}.self_attn.W_pack.weight': {
      to: ['blk.{n}.attn_q.weight', 'blk.{n}.attn_k.weight', 'blk.{n}.attn_v.weight'],
      by: 'split-qkv',
    },
    'model.layers.{n}.self_attn.o_proj': 'blk.{n}.attn_output',
    ...gatedMlpNames,
  },
  tokenizer: 'sentencepiece',
}

export const orion: Family = {
  architecture: 'orion',
  classes: ['OrionForCausalLM'],
  configs: { orion: {} },
  settings: [...settings, 'max_position_embeddings', 'num_key_value_heads'],
  keys: [
    key.fileType,
    dataLayout,
    { ...key.context, from: ['max_sequence_length', 'max_position_embeddings', 'model_max_length'] },
    key.embedding,
    key.blocks,
    key.feedForward,
    key.heads,
    {
      ...key.kvHeads,
      value: ({ config }) => config.num_key_value_heads ?? config.num_attention_heads,
    },
    // The configuration calls it the epsilon of another kind of norm.
    { key: 'attention.layer_norm_epsilon', type: 'f32', from: ['rms_norm_eps'], required: true },
  ],
  tensors: { ...outerNames, ...preNormNames, ...attentionNames, ...gatedMlpNames },
  tokenizer: 'sentencepiece',
}
