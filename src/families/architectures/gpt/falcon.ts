// Falcon: q, k and v in one matrix, with several heads of q for each of k and v.
import { heads, num, numberIn } from '../../facts.js'
import type { Family } from '../../family.js'
import { key } from '../shared-keys.js'

const layer = 'transformer.h.{n}'

export const falcon: Family = {
  architecture: 'falcon',
  classes: ['FalconForCausalLM', 'RWForCausalLM'],
  // Of two norms, the one for the feed-forward part has a name of its own.
  others: {
    where: /^blk\.\d+\.attn_norm_2\./,
    names: { [`${layer}.ln_mlp`]: 'blk.{n}.attn_norm' },
    settings: { new_decoder_architecture: true, num_ln_in_parallel_attn: 2 },
  },
  configs: {
    falcon: {
      num_hidden_layers: 32,
      max_length: 20,
      hidden_size: 4544,
      num_attention_heads: 71,
      num_kv_heads: heads,
      layer_norm_epsilon: 1e-5,
      vocab_size: 65024,
    },
  },
  keys: [
    // The configuration does not say it.
    { key: 'context_length', type: 'u32', value: () => 2048 },
    // The name that llama.cpp has for q, k and v one after the other.
    { key: 'tensor_data_layout', type: 'str', value: () => 'jploski' },
    key.embedding,
    { key: 'feed_forward_length', type: 'u32', value: ({ config }) => 4 * num(config, 'hidden_size'), required: true },
    key.blocks,
    { ...key.heads, from: ['num_attention_heads', 'n_head'] },
    {
      key: 'attention.head_count_kv',
      type: 'u32',
      from: ['num_kv_heads', 'n_head_kv'],
      value: ({ config }) => numberIn(config, 'num_kv_heads') ?? numberIn(config, 'n_head_kv') ?? 1,
      back: (value, config) => {
        const isShared = Number(value) > 1 && value !== config.num_attention_heads
        if (isShared) return { num_kv_heads: value, new_decoder_architecture: true, num_ln_in_parallel_attn: 1 }
        return { num_kv_heads: value, multi_query: value === 1 }
      },
    },
    { key: 'attention.layer_norm_epsilon', type: 'f32', from: ['layer_norm_epsilon'], required: true },
    key.fileType,
  ],
  tensors: {
    'transformer.word_embeddings': 'token_embd',
    lm_head: 'output',
    'transformer.ln_f': 'output_norm',
    // With one norm, or with one each for attention and the feed-forward part.
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.ln_mlp`]: 'blk.{n}.attn_norm',
    [`${layer}.ln_attn`]: 'blk.{n}.attn_norm_2',
    [`${layer}.self_attention.query_key_value`]: { to: 'blk.{n}.attn_qkv', by: 'regroup-grouped-qkv' },
    [`${layer}.self_attention.dense`]: 'blk.{n}.attn_output',
    [`${layer}.mlp.dense_h_to_4h`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.dense_4h_to_h`]: 'blk.{n}.ffn_down',
  },
  tokenizer: 'bpe',
}
