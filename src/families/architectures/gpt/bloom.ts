// BLOOM: no positions but the bias of the attention; each head has its q, k and v together.
import { num } from '../../facts.js'
import type { Config, Family } from '../../family.js'
import { key } from '../shared-keys.js'

/** Newer files use the names that other models have. */
function settleNames(config: Config): Config {
  return {
    ...config,
    n_layer: config.num_hidden_layers ?? config.n_layer,
    n_head: config.num_attention_heads ?? config.n_head,
    hidden_size: config.n_embed ?? config.hidden_size,
  }
}

export const bloom: Family = {
  architecture: 'bloom',
  classes: ['BloomForCausalLM', 'BloomModel'],
  configs: {
    bloom: { n_layer: 2, max_length: 20, hidden_size: 64, n_head: 8, layer_norm_epsilon: 1e-5, vocab_size: 250880 },
  },
  settle: settleNames,
  keys: [
    {
      key: 'context_length',
      type: 'u32',
      value: ({ config }) => config.seq_length ?? config.hidden_size,
      back: (value) => ({ seq_length: value }),
      required: true,
    },
    key.embedding,
    { key: 'feed_forward_length', type: 'u32', value: ({ config }) => 4 * num(config, 'hidden_size'), required: true },
    key.blocks,
    { ...key.heads, from: ['n_head'] },
    { key: 'attention.head_count_kv', type: 'u32', value: ({ config }) => config.n_head, required: true },
    { key: 'attention.layer_norm_epsilon', type: 'f32', from: ['layer_norm_epsilon'], required: true },
    key.fileType,
  ],
  tensors: {
    word_embeddings: 'token_embd',
    word_embeddings_layernorm: 'token_embd_norm',
    lm_head: 'output',
    ln_f: 'output_norm',
    'h.{n}.input_layernorm': 'blk.{n}.attn_norm',
    'h.{n}.self_attention.query_key_value': { to: 'blk.{n}.attn_qkv', by: 'regroup-qkv' },
    'h.{n}.self_attention.dense': 'blk.{n}.attn_output',
    'h.{n}.post_attention_layernorm': 'blk.{n}.ffn_norm',
    'h.{n}.mlp.dense_h_to_4h': 'blk.{n}.ffn_up',
    'h.{n}.mlp.dense_4h_to_h': 'blk.{n}.ffn_down',
  },
  prefix: { remove: ['transformer.'], back: 'transformer.' },
  tokenizer: 'bpe',
}
