import type { Family } from '../../family.js'
import { commonKeys } from '../shared-keys.js'
import { attentionNames, outerNames, preNormNames } from '../shared-names.js'

export const starcoder2: Family = {
  architecture: 'starcoder2',
  classes: ['Starcoder2ForCausalLM'],
  configs: {
    starcoder2: {
      num_hidden_layers: 30,
      max_position_embeddings: 4096,
      max_length: 20,
      hidden_size: 3072,
      intermediate_size: 12288,
      num_attention_heads: 24,
      num_key_value_heads: 2,
      rope_theta: 10000,
      rope_scaling: null,
      norm_epsilon: 1e-5,
      vocab_size: 49152,
    },
  },
  keys: commonKeys,
  tensors: {
    ...outerNames,
    ...preNormNames,
    ...attentionNames,
    'model.layers.{n}.mlp.c_fc': 'blk.{n}.ffn_up',
    'model.layers.{n}.mlp.c_proj': 'blk.{n}.ffn_down',
  },
  tokenizer: 'bpe',
}
