// ModernBERT: an encoder that rotates, looks at windows in most layers, and has gate and up in one matrix.
import type { Family } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import { labels, namedClassifier } from './bert.js'

export const modernBert: Family = {
  architecture: 'modern-bert',
  classes: ['ModernBertModel', 'ModernBertForMaskedLM', 'ModernBertForSequenceClassification'],
  tells: { ModernBertForSequenceClassification: /^cls\./ },
  configs: {
    modernbert: {
      num_hidden_layers: 22,
      max_position_embeddings: 8192,
      max_length: 20,
      hidden_size: 768,
      intermediate_size: 1152,
      num_attention_heads: 12,
      norm_eps: 1e-5,
      global_rope_theta: 160000,
      local_rope_theta: 10000,
      global_attn_every_n_layers: 3,
      local_attention: 128,
      hidden_activation: 'gelu',
      vocab_size: 50368,
    },
  },
  keys: [
    ...commonKeys,
    { key: 'attention.causal', type: 'bool', value: () => false },
    key.pooling,
    labels,
    { ...key.slidingWindow, from: ['local_attention'], required: true },
    { key: 'attention.sliding_window_pattern', type: 'u32', from: ['global_attn_every_n_layers'] },
    key.noRopeScaling,
    key.vocabulary,
    { key: 'hidden_activation', type: 'str', from: ['hidden_activation'] },
  ],
  tensors: {
    'embeddings.tok_embeddings': 'token_embd',
    'embeddings.norm': 'token_embd_norm',
    final_norm: 'output_norm',
    'layers.{n}.attn_norm': 'blk.{n}.attn_norm',
    'layers.{n}.attn.Wqkv': 'blk.{n}.attn_qkv',
    'layers.{n}.attn.Wo': 'blk.{n}.attn_output',
    'layers.{n}.mlp_norm': 'blk.{n}.ffn_norm',
    'layers.{n}.mlp.Wi': 'blk.{n}.ffn_up',
    'layers.{n}.mlp.Wo': 'blk.{n}.ffn_down',
    'head.dense': 'cls',
    pre_classifier: 'cls',
    classifier: 'cls.output',
    'head.norm': 'cls.norm',
  },
  prefix: { remove: ['model.'] },
  named: namedClassifier,
  drops: [/^decoder\.(weight|bias)$/],
  classDrops: { ModernBertForMaskedLM: [/^head\.(dense|norm)\.(weight|bias)$/] },
  // The norm of the embedding is that of the first layer.
  mayLack: /^blk\.0\.attn_norm\./,
  tokenizer: 'bpe',
  tokenizerEntries: { before: { add_bos_token: true, add_eos_token: true, add_sep_token: true } },
}
