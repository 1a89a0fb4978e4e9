// Cohere's Command R and Aya, and their successors.
import { headSize, heads, num, numberIn } from '../../facts.js'
import type { Default, Family, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import { attentionNames, each, gatedMlpNames, headNormNames, outerNames } from '../shared-names.js'

const config: Readonly<Record<string, Default>> = {
  num_hidden_layers: 40,
  max_position_embeddings: 8192,
  max_length: 20,
  hidden_size: 8192,
  intermediate_size: 22528,
  num_attention_heads: 64,
  num_key_value_heads: heads,
  rope_theta: 10000,
  rope_scaling: null,
  layer_norm_eps: 1e-5,
  logit_scale: 0.0625,
  vocab_size: 256000,
}

const names: NameTable = {
  ...outerNames,
  'model.layers.{n}.input_layernorm': 'blk.{n}.attn_norm',
  ...attentionNames,
  ...gatedMlpNames,
}

export const commandR: Family = {
  architecture: 'command-r',
  classes: ['CohereForCausalLM'],
  configs: { cohere: config },
  others: { where: /^blk\.\d+\.attn_q_norm\./, settings: { use_qk_norm: true } },
  // Some configurations state less than the model was trained for.
  settle: (stated) => ({
    ...stated,
    max_position_embeddings: numberIn(stated, 'model_max_length', 'max_position_embeddings'),
  }),
  keys: [...commonKeys, key.logitScale, key.noRopeScaling],
  tensors: { ...names, ...headNormNames },
  tokenizer: 'bpe',
}

export const cohere2: Family = {
  architecture: 'cohere2',
  classes: ['Cohere2ForCausalLM'],
  configs: { cohere2: { ...config, sliding_window: 4096 } },
  settle: (stated) => ({ head_dim: headSize(stated), ...stated }),
  keys: [
    ...commonKeys,
    key.logitScale,
    { ...key.slidingWindow, required: true },
    key.vocabulary,
    {
      key: 'rope.dimension_count',
      type: 'u32',
      value: ({ config }) => Math.trunc(num(config, 'rotary_pct') * headSize(config)),
      back: (value, config) => ({ rotary_pct: Number(value) / headSize(config) }),
      required: true,
    },
    key.noRopeScaling,
  ],
  // llama.cpp has no biases here; checkpoints have some that are zero.
  tensors: each(names, 'zero-bias', () => true),
  tokenizer: 'bpe',
}
