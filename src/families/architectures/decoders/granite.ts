// Granite: Llama with four multipliers. The mixture-of-experts form keeps gate and up in one tensor.
import { heads } from '../../facts.js'
import type { Config, Default, Family, KeyRule } from '../../family.js'
import { llamaConfig, llamaKeys, llamaNames } from './llama.js'

const config: Readonly<Record<string, Default>> = {
  ...llamaConfig,
  num_key_value_heads: heads,
  attention_multiplier: 1,
  embedding_multiplier: 1,
  residual_multiplier: 1,
  logits_scaling: 1,
}

const multiplier = (key: string, from: string): KeyRule => ({
  key,
  type: 'f32',
  from: [from],
  value: ({ config }) => config[from] || undefined,
})

export const graniteKeys: readonly KeyRule[] = [
  ...llamaKeys,
  multiplier('attention.scale', 'attention_multiplier'),
  multiplier('embedding_scale', 'embedding_multiplier'),
  multiplier('residual_scale', 'residual_multiplier'),
  multiplier('logit_scale', 'logits_scaling'),
]

export const graniteMoeKeys: readonly KeyRule[] = [
  ...graniteKeys,
  { ...multiplier('expert_shared_feed_forward_length', 'shared_intermediate_size'), type: 'u32' },
]

/** llama.cpp takes the size of a head from the embedding. */
export const withoutHeadSize = ({ head_dim: _, ...config }: Config): Config => config

const shared: Pick<Family, 'settle' | 'computed' | 'tokenizer'> = {
  settle: withoutHeadSize,
  computed: 'rope-freqs',
  tokenizer: 'llama',
}

export const granite: Family = {
  architecture: 'granite',
  classes: ['GraniteForCausalLM'],
  configs: { granite: config },
  keys: graniteKeys,
  tensors: llamaNames,
  ...shared,
}

const moe = 'model.layers.{n}.block_sparse_moe'
const mlp = 'model.layers.{n}.shared_mlp'

export const graniteMoe: Family = {
  architecture: 'granitemoe',
  classes: ['GraniteMoeForCausalLM', 'GraniteMoeSharedForCausalLM'],
  configs: {
    granitemoe: { ...config, num_local_experts: 8, num_experts_per_tok: 2 },
    granitemoeshared: { ...config, num_local_experts: 8, num_experts_per_tok: 2, shared_intermediate_size: 0 },
  },
  keys: graniteMoeKeys,
  tensors: {
    // Before the names of Mixtral's experts, which lead to the same tensors.
    [`${moe}.router.layer`]: 'blk.{n}.ffn_gate_inp',
    [`${moe}.input_linear`]: { to: ['blk.{n}.ffn_gate_exps', 'blk.{n}.ffn_up_exps'], by: 'split-halves' },
    [`${moe}.output_linear`]: 'blk.{n}.ffn_down_exps',
    [`${mlp}.input_linear`]: { to: ['blk.{n}.ffn_gate_shexp', 'blk.{n}.ffn_up_shexp'], by: 'split-halves' },
    [`${mlp}.output_linear`]: 'blk.{n}.ffn_down_shexp',
    ...llamaNames,
  },
  ...shared,
}
