// GPT-NeoX and Pythia. Each head has its q, k and v together.
import { headSize, num } from '../../facts.js'
import type { Family } from '../../family.js'
import { key } from '../shared-keys.js'

const layer = 'gpt_neox.layers.{n}'

export const gptNeoX: Family = {
  architecture: 'gptneox',
  classes: ['GPTNeoXForCausalLM'],
  configs: {
    gpt_neox: {
      num_hidden_layers: 44,
      max_position_embeddings: 2048,
      max_length: 20,
      hidden_size: 6144,
      intermediate_size: 24576,
      num_attention_heads: 64,
      rotary_pct: 0.25,
      layer_norm_eps: 1e-5,
      use_parallel_residual: true,
      vocab_size: 50432,
    },
  },
  keys: [
    key.context,
    key.embedding,
    key.blocks,
    key.feedForward,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config }) => Math.trunc(num(config, 'rotary_pct') * headSize(config)),
      back: (value, config) => ({ rotary_pct: Number(value) / headSize(config) }),
      required: true,
    },
    key.heads,
    key.parallelResidual,
    { key: 'attention.layer_norm_epsilon', type: 'f32', from: ['layer_norm_eps'], required: true },
  ],
  tensors: {
    'gpt_neox.embed_in': 'token_embd',
    embed_out: 'output',
    'gpt_neox.final_layer_norm': 'output_norm',
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.post_attention_layernorm`]: 'blk.{n}.ffn_norm',
    [`${layer}.attention.query_key_value`]: { to: 'blk.{n}.attn_qkv', by: 'regroup-qkv' },
    [`${layer}.attention.dense`]: 'blk.{n}.attn_output',
    [`${layer}.mlp.dense_h_to_4h`]: 'blk.{n}.ffn_up',
    [`${layer}.mlp.dense_4h_to_h`]: 'blk.{n}.ffn_down',
  },
  tokenizer: 'bpe',
}
