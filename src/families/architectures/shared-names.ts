// The names that most decoders of the hub share, and what GGUF calls them.
import type { NameTable, TensorRule } from '../family.js'

const layer = 'model.layers.{n}'

export const outerNames: NameTable = {
  'model.embed_tokens': 'token_embd',
  lm_head: 'output',
  'model.norm': 'output_norm',
}

export const attentionNames: NameTable = {
  [`${layer}.self_attn.q_proj`]: 'blk.{n}.attn_q',
  [`${layer}.self_attn.k_proj`]: 'blk.{n}.attn_k',
  [`${layer}.self_attn.v_proj`]: 'blk.{n}.attn_v',
  [`${layer}.self_attn.o_proj`]: 'blk.{n}.attn_output',
}

/** Rows of q and k regrouped per head, as llama.cpp rotates neighbours. */
export const permutedAttentionNames: NameTable = {
  ...attentionNames,
  [`${layer}.self_attn.q_proj`]: { to: 'blk.{n}.attn_q', by: 'permute-heads' },
  [`${layer}.self_attn.k_proj`]: { to: 'blk.{n}.attn_k', by: 'permute-kv-heads' },
}

export const headNormNames: NameTable = {
  [`${layer}.self_attn.q_norm`]: 'blk.{n}.attn_q_norm',
  [`${layer}.self_attn.k_norm`]: 'blk.{n}.attn_k_norm',
}

export const preNormNames: NameTable = {
  [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
  [`${layer}.post_attention_layernorm`]: 'blk.{n}.ffn_norm',
}

export const gatedMlpNames: NameTable = {
  [`${layer}.mlp.gate_proj`]: 'blk.{n}.ffn_gate',
  [`${layer}.mlp.up_proj`]: 'blk.{n}.ffn_up',
  [`${layer}.mlp.down_proj`]: 'blk.{n}.ffn_down',
}

const stacked = (to: string): TensorRule => ({ to, stack: true })

/** In the order in which the stacked tensors of a layer are written. */
export function expertNamesIn(order: readonly ('down_proj' | 'gate_proj' | 'up_proj')[]): NameTable {
  const experts = order.map((name) => [
    `${layer}.mlp.experts.{e}.${name}`,
    stacked(`blk.{n}.ffn_${name.replace('_proj', '')}_exps`),
  ])
  return { [`${layer}.mlp.gate`]: 'blk.{n}.ffn_gate_inp', ...Object.fromEntries(experts) }
}

export const expertNames: NameTable = expertNamesIn(['down_proj', 'gate_proj', 'up_proj'])

const sharedExperts = (name: string): NameTable => ({
  [`${layer}.mlp.${name}.gate_proj`]: 'blk.{n}.ffn_gate_shexp',
  [`${layer}.mlp.${name}.up_proj`]: 'blk.{n}.ffn_up_shexp',
  [`${layer}.mlp.${name}.down_proj`]: 'blk.{n}.ffn_down_shexp',
})

/** Experts that every token goes through. */
export const sharedExpertsNames: NameTable = sharedExperts('shared_experts')

/** Experts that are stacked already, with gate and up in one. */
export const fusedExpertNames: NameTable = {
  [`${layer}.mlp.experts.gate_up_proj`]: {
    to: ['blk.{n}.ffn_gate_exps.weight', 'blk.{n}.ffn_up_exps.weight'],
    by: 'split-halves',
  },
  [`${layer}.mlp.experts.gate_up_proj.weight`]: {
    to: ['blk.{n}.ffn_gate_exps.weight', 'blk.{n}.ffn_up_exps.weight'],
    by: 'split-halves',
  },
  [`${layer}.mlp.experts.down_proj`]: 'blk.{n}.ffn_down_exps.weight',
  [`${layer}.mlp.experts.down_proj.weight`]: 'blk.{n}.ffn_down_exps.weight',
}

export const sharedExpertNames: NameTable = {
  ...sharedExperts('shared_expert'),
  [`${layer}.mlp.shared_expert_gate`]: 'blk.{n}.ffn_gate_inp_shexp',
}

/** The same table with one transform for some of its names. */
export function each(names: NameTable, by: TensorRule['by'], isMeant: (name: string) => boolean): NameTable {
  return Object.fromEntries(
    Object.entries(names).map(([name, rule]) => {
      if (!isMeant(name)) return [name, rule]
      return [name, typeof rule === 'string' ? { to: rule, by } : { ...rule, by }]
    }),
  )
}
