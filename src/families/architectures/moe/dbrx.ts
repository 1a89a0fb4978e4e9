// DBRX: experts whose matrices stand below each other, and settings in two groups.
import { isObject } from '../../facts.js'
import type { Config, Family, KeyRule } from '../../family.js'
import { key } from '../shared-keys.js'

const block = 'transformer.blocks.{n}'
const attention = `${block}.norm_attn_norm`
const experts = `${block}.ffn.experts.mlp`

const defaults = {
  attn_config: { clip_qkv: null, kv_n_heads: 1, rope_theta: 10000 },
  ffn_config: { ffn_hidden_size: 3584, moe_num_experts: 4, moe_top_k: 1 },
} as const satisfies Config

const groups = { attn_config: 'attn_config', ffn_config: 'ffn_config' } as const

/** An entry from a setting of a group. */
const grouped = (
  group: keyof typeof groups,
  name: string,
  rule: Omit<KeyRule, 'value' | 'back' | 'from'>,
): KeyRule => ({
  ...rule,
  value: ({ config }) => {
    const stated = config[group]
    return { ...defaults[group], ...(isObject(stated) && stated) }[name as never]
  },
  back: (value, known) => ({ [group]: { ...(isObject(known[group]) && known[group]), [name]: value } }),
})

export const dbrx: Family = {
  architecture: 'dbrx',
  classes: ['DbrxForCausalLM'],
  configs: { dbrx: { n_layers: 24, max_seq_len: 2048, d_model: 2048, n_heads: 16, vocab_size: 32000 } },
  settle: (config) => {
    const ffn = { ...defaults.ffn_config, ...(isObject(config.ffn_config) && config.ffn_config) }
    return { ...config, num_local_experts: ffn.moe_num_experts }
  },
  keys: [
    { key: 'block_count', type: 'u32', from: ['n_layers'], value: ({ layers }) => layers },
    { key: 'context_length', type: 'u32', from: ['max_seq_len'], required: true },
    { key: 'embedding_length', type: 'u32', from: ['d_model'], required: true },
    grouped('ffn_config', 'ffn_hidden_size', { key: 'feed_forward_length', type: 'u32', required: true }),
    { key: 'attention.head_count', type: 'u32', from: ['n_heads'], required: true },
    grouped('attn_config', 'kv_n_heads', { key: 'attention.head_count_kv', type: 'u32', required: true }),
    grouped('attn_config', 'rope_theta', { key: 'rope.freq_base', type: 'f32', required: true }),
    grouped('attn_config', 'clip_qkv', { key: 'attention.clamp_kqv', type: 'f32', required: true }),
    grouped('ffn_config', 'moe_num_experts', { key: 'expert_count', type: 'u32', required: true }),
    grouped('ffn_config', 'moe_top_k', { key: 'expert_used_count', type: 'u32', required: true }),
    { key: 'attention.layer_norm_epsilon', type: 'f32', value: () => 1e-5, back: () => ({}) },
    key.fileType,
  ],
  tensors: {
    'transformer.wte': 'token_embd',
    lm_head: 'output',
    'transformer.norm_f': 'output_norm',
    [`${attention}.norm_1`]: 'blk.{n}.attn_norm',
    [`${attention}.attn.Wqkv`]: 'blk.{n}.attn_qkv',
    [`${attention}.attn.out_proj`]: 'blk.{n}.attn_output',
    [`${attention}.norm_2`]: 'blk.{n}.attn_output_norm',
    [`${block}.ffn.router.layer`]: 'blk.{n}.ffn_gate_inp',
    [`${experts}.w1`]: { to: 'blk.{n}.ffn_gate_exps.weight', by: 'expert-rows' },
    [`${experts}.v1`]: { to: 'blk.{n}.ffn_up_exps.weight', by: 'expert-rows' },
    [`${experts}.w2`]: { to: 'blk.{n}.ffn_down_exps.weight', by: 'expert-rows-transposed' },
  },
  castsRouters: true,
  tokenizer: 'bpe',
}
