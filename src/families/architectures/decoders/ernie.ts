// ERNIE 4.5, dense and with experts.
import { headSize, heads, num } from '../../facts.js'
import type { Default, Family, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import {
  attentionNames,
  expertNamesIn,
  gatedMlpNames,
  outerNames,
  preNormNames,
  sharedExpertsNames,
} from '../shared-names.js'

const config: Readonly<Record<string, Default>> = {
  max_position_embeddings: 131072,
  max_length: 20,
  rms_norm_eps: 1e-5,
  rope_theta: 500000,
  rope_scaling: null,
  vocab_size: 103424,
}

const denseNames: NameTable = { ...outerNames, ...preNormNames, ...attentionNames, ...gatedMlpNames }
const respell: Family['respell'] = [[/ernie\./, 'model.']]

export const ernie45: Family = {
  architecture: 'ernie4_5',
  classes: ['Ernie4_5ForCausalLM', 'Ernie4_5_ForCausalLM'],
  configs: {
    ernie4_5: {
      ...config,
      num_hidden_layers: 18,
      hidden_size: 1024,
      intermediate_size: 3072,
      num_attention_heads: 16,
      num_key_value_heads: [2, heads],
      head_dim: [128, headSize],
    },
  },
  keys: commonKeys,
  tensors: denseNames,
  respell,
  tokenizer: 'sentencepiece-with-prefix',
}

/** PaddleOCR-VL: the text of ERNIE 4.5, with sections of RoPE for what is seen. */
export const paddleOcr: Family = {
  ...ernie45,
  architecture: 'paddleocr',
  classes: ['PaddleOCRVLForConditionalGeneration'],
  configs: { paddleocr_vl: {} },
  settings: Object.keys(ernie45.configs.ernie4_5!),
}

export const ernie45Moe: Family = {
  architecture: 'ernie4_5-moe',
  classes: ['Ernie4_5_MoeForCausalLM'],
  configs: {
    ernie4_5_moe: {
      ...config,
      num_hidden_layers: 28,
      hidden_size: 2560,
      intermediate_size: 12288,
      num_attention_heads: 20,
      num_key_value_heads: 4,
      moe_intermediate_size: 1536,
      moe_k: 6,
      moe_num_experts: 64,
      moe_num_shared_experts: 2,
      moe_layer_start_index: 1,
      moe_layer_interval: 1,
    },
  },
  keys: [
    ...commonKeys,
    { key: 'expert_count', type: 'u32', from: ['moe_num_experts'], required: true },
    { key: 'expert_used_count', type: 'u32', from: ['moe_k'], required: true },
    { key: 'interleave_moe_layer_step', type: 'u32', from: ['moe_layer_interval'], required: true },
    { key: 'leading_dense_block_count', type: 'u32', from: ['moe_layer_start_index'], required: true },
    key.expertFeedForward,
    { key: 'expert_shared_count', type: 'u32', from: ['moe_num_shared_experts'] },
    {
      key: 'expert_shared_feed_forward_length',
      type: 'u32',
      value: ({ config }) =>
        num(config, 'moe_num_shared_experts') > 0 && config.num_key_value_heads != null
          ? Math.floor(num(config, 'intermediate_size') / num(config, 'num_key_value_heads'))
          : undefined,
      back: () => ({}),
    },
  ],
  tensors: {
    ...denseNames,
    ...expertNamesIn(['gate_proj', 'up_proj', 'down_proj']),
    'model.layers.{n}.mlp.moe_statics.e_score_correction_bias': 'blk.{n}.exp_probs_b.bias',
    ...sharedExpertsNames,
  },
  respell,
  drops: [/^model\.mtp_(block|emb_norm|hidden_norm|linear_proj)\.\d+/],
  tokenizer: 'sentencepiece-with-prefix',
}
