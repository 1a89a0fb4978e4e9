// InternLM 2, whose q, k and v of each group of heads are one matrix, and InternLM 3, which is built like Llama.
import type { Family } from '../../family.js'
import { commonKeys, decoderSettings } from '../shared-keys.js'
import { gatedMlpNames, outerNames, permutedAttentionNames, preNormNames } from '../shared-names.js'
import { llamaKeys } from './llama.js'

const layer = 'model.layers.{n}'
const settings = [...decoderSettings]

export const internLm2: Family = {
  architecture: 'internlm2',
  classes: ['InternLM2ForCausalLM'],
  configs: { internlm2: {} },
  settings,
  keys: commonKeys,
  tensors: {
    'model.tok_embeddings': 'token_embd',
    output: 'output',
    'model.norm': 'output_norm',
    [`${layer}.attention_norm`]: 'blk.{n}.attn_norm',
    [`${layer}.attention.wqkv.weight`]: {
      to: ['blk.{n}.attn_q.weight', 'blk.{n}.attn_k.weight', 'blk.{n}.attn_v.weight'],
      by: 'split-grouped-qkv',
    },
    [`${layer}.attention.wo`]: 'blk.{n}.attn_output',
    [`${layer}.ffn_norm`]: 'blk.{n}.ffn_norm',
    [`${layer}.feed_forward.w1`]: 'blk.{n}.ffn_gate',
    [`${layer}.feed_forward.w3`]: 'blk.{n}.ffn_up',
    [`${layer}.feed_forward.w2`]: 'blk.{n}.ffn_down',
  },
  tokenizer: 'internlm-2',
}

export const internLm3: Family = {
  architecture: 'llama',
  classes: ['InternLM3ForCausalLM'],
  configs: { internlm3: {} },
  settings: [...settings, 'head_dim', 'vocab_size'],
  keys: llamaKeys,
  tensors: { ...outerNames, ...preNormNames, ...permutedAttentionNames, ...gatedMlpNames },
  tokenizer: 'internlm-3',
}
