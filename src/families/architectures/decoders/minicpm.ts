// MiniCPM: Llama with embeddings, layers and logits that are scaled.
import { shortestF32 } from '../../../dtypes/shortest.js'
import { num } from '../../facts.js'
import type { Family } from '../../family.js'
import { commonKeys, decoderSettings } from '../shared-keys.js'
import { gatedMlpNames, outerNames, preNormNames } from '../shared-names.js'

const attention = 'model.layers.{n}.self_attn'

export const miniCpm: Family = {
  architecture: 'minicpm',
  classes: ['MiniCPMForCausalLM'],
  configs: { minicpm: {} },
  settings: [...decoderSettings],
  keys: [
    ...commonKeys,
    { key: 'embedding_scale', type: 'f32', from: ['scale_emb'], required: true },
    {
      key: 'residual_scale',
      type: 'f32',
      value: ({ config }) => num(config, 'scale_depth') / num(config, 'num_hidden_layers') ** 0.5,
      back: (value, config) => ({ scale_depth: shortestF32(Number(value) * num(config, 'num_hidden_layers') ** 0.5) }),
      required: true,
    },
    {
      key: 'logit_scale',
      type: 'f32',
      value: ({ config }) => num(config, 'hidden_size') / num(config, 'dim_model_base'),
      back: (value, config) => ({ dim_model_base: Math.round(num(config, 'hidden_size') / Number(value)) }),
      required: true,
    },
  ],
  tensors: {
    ...outerNames,
    ...preNormNames,
    // Weights only: a bias stays as it is.
    [`${attention}.q_proj.weight`]: { to: 'blk.{n}.attn_q.weight', by: 'permute-heads' },
    [`${attention}.q_proj.bias`]: 'blk.{n}.attn_q.bias',
    [`${attention}.k_proj.weight`]: { to: 'blk.{n}.attn_k.weight', by: 'permute-kv-heads' },
    [`${attention}.k_proj.bias`]: 'blk.{n}.attn_k.bias',
    [`${attention}.v_proj`]: 'blk.{n}.attn_v',
    [`${attention}.o_proj`]: 'blk.{n}.attn_output',
    ...gatedMlpNames,
  },
  computed: 'head-rope-factors',
  tokenizer: 'sentencepiece',
}
