// EXAONE 3: Llama's layers under the names of GPT-2.
import { headSize } from '../facts.js'
import type { Family } from '../family.js'
import { commonKeys } from './shared-keys.js'

const layer = 'transformer.h.{n}'

export const exaone: Family = {
  architecture: 'exaone',
  classes: ['ExaoneForCausalLM'],
  configs: { exaone: {} },
  settings: ['num_layers', 'layer_norm_epsilon'],
  keys: [
    ...commonKeys,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config, rope }) => Math.trunc(Number(rope.partial_rotary_factor ?? 1) * headSize(config)),
      back: (value, config) =>
        value === headSize(config) ? {} : { partial_rotary_factor: Number(value) / headSize(config) },
      required: true,
    },
  ],
  tensors: {
    'transformer.wte': 'token_embd',
    lm_head: 'output',
    'transformer.ln_f': 'output_norm',
    [`${layer}.ln_1`]: 'blk.{n}.attn_norm',
    [`${layer}.attn.attention.q_proj`]: 'blk.{n}.attn_q',
    [`${layer}.attn.attention.k_proj`]: 'blk.{n}.attn_k',
    [`${layer}.attn.attention.v_proj`]: 'blk.{n}.attn_v',
    [`${layer}.attn.attention.out_proj`]: 'blk.{n}.attn_output',
    [`${layer}.ln_2`]: 'blk.{n}.ffn_norm',
    [`${layer}.mlp.c_fc_0`]: 'blk.{n}.ffn_gate',
    [`${layer}.mlp.c_fc_1`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.c_proj`]: 'blk.{n}.ffn_down',
  },
  computed: 'rope-freqs',
  tokenizer: 'bpe',
}
