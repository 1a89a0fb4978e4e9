// gpt-oss: experts with biases, published as MXFP4 blocks that stay what they are.
import { headSize, heads } from '../../facts.js'
import type { Family } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import { attentionNames, outerNames } from '../shared-names.js'

const layer = 'model.layers.{n}'
const experts = `${layer}.mlp.experts`

export const gptOss: Family = {
  architecture: 'gpt-oss',
  classes: ['GptOssForCausalLM'],
  configs: {
    gpt_oss: {
      num_hidden_layers: 36,
      max_position_embeddings: 131072,
      max_length: 20,
      hidden_size: 2880,
      intermediate_size: 2880,
      num_attention_heads: 64,
      num_key_value_heads: [8, heads],
      rope_theta: 150000,
      rope_scaling: {
        rope_type: 'yarn',
        factor: 32,
        beta_fast: 32,
        beta_slow: 1,
        truncate: false,
        original_max_position_embeddings: 4096,
      },
      rms_norm_eps: 1e-5,
      num_local_experts: 128,
      num_experts_per_tok: 4,
      head_dim: [64, headSize],
      sliding_window: 128,
      vocab_size: 201088,
    },
  },
  keys: [
    ...commonKeys,
    { ...key.slidingWindow, required: true },
    { key: 'expert_feed_forward_length', type: 'u32', from: ['intermediate_size'], required: true },
  ],
  tensors: {
    ...outerNames,
    ...attentionNames,
    [`${layer}.input_layernorm`]: 'blk.{n}.attn_norm',
    [`${layer}.post_attention_layernorm`]: 'blk.{n}.post_attention_norm',
    [`${layer}.self_attn.sinks`]: 'blk.{n}.attn_sinks.weight',
    [`${layer}.mlp.router`]: 'blk.{n}.ffn_gate_inp',
    [`${experts}.gate_up_proj_bias`]: {
      to: ['blk.{n}.ffn_gate_exps.bias', 'blk.{n}.ffn_up_exps.bias'],
      by: 'split-alternate',
    },
    [`${experts}.down_proj_bias`]: 'blk.{n}.ffn_down_exps.bias',
    [`${experts}.gate_up_proj`]: {
      to: ['blk.{n}.ffn_gate_exps.weight', 'blk.{n}.ffn_up_exps.weight'],
      by: 'transpose-split-alternate',
    },
    [`${experts}.down_proj`]: { to: 'blk.{n}.ffn_down_exps.weight', by: 'transpose-last' },
  },
  mxfp4: true,
  tokenizer: 'bpe',
}
