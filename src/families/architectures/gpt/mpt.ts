// MPT: attention that looks at distances instead of rotating, with a block of settings of its own.
import { isObject, num } from '../../facts.js'
import type { Config, Family } from '../../family.js'
import { key } from '../shared-keys.js'

const layer = 'transformer.blocks.{n}'
const attentionOf = ({ attn_config: stated }: Config): Config => (isObject(stated) ? stated : {})

/** A setting of attention, beside those that are known. */
const attention =
  (name: string) =>
  (value: unknown, config: Config): Config => ({ attn_config: { ...attentionOf(config), [name]: value } })

export const mpt: Family = {
  architecture: 'mpt',
  classes: ['MPTForCausalLM'],
  configs: {
    mpt: {
      d_model: 2048,
      n_heads: 16,
      n_layers: 24,
      max_seq_len: 2048,
      vocab_size: 50368,
    },
  },
  settle: (stated) => ({
    ...stated,
    attn_config: { alibi: true, alibi_bias_max: 8, clip_qkv: null, ...attentionOf(stated) },
  }),
  keys: [
    { ...key.context, from: ['max_seq_len'] },
    { ...key.embedding, from: ['d_model'] },
    key.blocks,
    {
      key: 'feed_forward_length',
      type: 'u32',
      value: ({ config }) => 4 * num(config, 'd_model'),
      back: () => ({ expansion_ratio: 4 }),
      required: true,
    },
    { ...key.heads, from: ['n_heads'] },
    {
      key: 'attention.head_count_kv',
      type: 'u32',
      value: ({ config }) => attentionOf(config).kv_n_heads || undefined,
      back: attention('kv_n_heads'),
    },
    { key: 'attention.layer_norm_epsilon', type: 'f32', value: () => 1e-5 },
    {
      key: 'attention.clamp_kqv',
      type: 'f32',
      value: ({ config }) => attentionOf(config).clip_qkv,
      back: attention('clip_qkv'),
    },
    {
      key: 'attention.max_alibi_bias',
      type: 'f32',
      value: ({ config }) => {
        const { alibi, alibi_bias_max: max } = attentionOf(config)
        return alibi ? max : 0
      },
      back: (value, config) => ({
        attn_config: { ...attentionOf(config), alibi: value !== 0, ...(value !== 0 && { alibi_bias_max: value }) },
      }),
    },
  ],
  tensors: {
    'transformer.wte': 'token_embd',
    'transformer.wpe': 'position_embd',
    lm_head: 'output',
    'transformer.norm_f': 'output_norm',
    [`${layer}.norm_1`]: 'blk.{n}.attn_norm',
    [`${layer}.attn.Wqkv`]: 'blk.{n}.attn_qkv',
    [`${layer}.attn.out_proj`]: 'blk.{n}.attn_output',
    [`${layer}.attn.q_ln`]: 'blk.{n}.attn_q_norm',
    [`${layer}.attn.k_ln`]: 'blk.{n}.attn_k_norm',
    [`${layer}.norm_2`]: 'blk.{n}.ffn_norm',
    [`${layer}.ffn.up_proj`]: 'blk.{n}.ffn_up',
    [`${layer}.ffn.down_proj`]: 'blk.{n}.ffn_down',
  },
  tokenizer: 'bpe',
}
