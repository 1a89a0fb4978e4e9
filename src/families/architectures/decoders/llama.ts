// Llama and the many models that are built like it: Mistral, Mixtral, Yi, SmolLM, …
import { headSize, heads, isObject, num } from '../../facts.js'
import type { Config, Default, Family, KeyRule, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'
import { attentionNames, gatedMlpNames, outerNames, permutedAttentionNames, preNormNames } from '../shared-names.js'

const decoder: Readonly<Record<string, Default>> = {
  num_hidden_layers: 32,
  max_length: 20,
  hidden_size: 4096,
  num_attention_heads: 32,
  vocab_size: 32000,
}

const mistral: Readonly<Record<string, Default>> = {
  ...decoder,
  max_position_embeddings: 131072,
  intermediate_size: 14336,
  num_key_value_heads: [8, heads],
  rope_theta: 10000,
  rms_norm_eps: 1e-6,
  head_dim: null,
}

export const llamaConfig: Readonly<Record<string, Default>> = {
  ...decoder,
  max_position_embeddings: 2048,
  intermediate_size: 11008,
  num_key_value_heads: heads,
  rope_theta: 10000,
  rope_scaling: null,
  rms_norm_eps: 1e-6,
}

export const llamaKeys: readonly KeyRule[] = [
  ...commonKeys,
  key.vocabulary,
  {
    key: 'rope.dimension_count',
    type: 'u32',
    value: ({ config }) => config.head_dim ?? headSize(config),
    required: true,
  },
]

const moe = 'model.layers.{n}.block_sparse_moe'

export const llamaNames: NameTable = {
  ...outerNames,
  ...preNormNames,
  ...permutedAttentionNames,
  ...gatedMlpNames,
  [`${moe}.gate`]: 'blk.{n}.ffn_gate_inp',
  [`${moe}.experts.{e}.w1`]: { to: 'blk.{n}.ffn_gate_exps', stack: true },
  [`${moe}.experts.{e}.w2`]: { to: 'blk.{n}.ffn_down_exps', stack: true },
  [`${moe}.experts.{e}.w3`]: { to: 'blk.{n}.ffn_up_exps', stack: true },
}

export const llama: Family = {
  architecture: 'llama',
  classes: [
    'LlamaForCausalLM',
    'LLaMAForCausalLM',
    'MistralForCausalLM',
    'MixtralForCausalLM',
    'LlamaModel',
    'LlavaForConditionalGeneration',
    'VoxtralForConditionalGeneration',
    'IQuestCoderForCausalLM',
    'VLlama3ForCausalLM',
    'JanusForConditionalGeneration',
  ],
  configs: {
    llama: { ...llamaConfig, head_dim: headSize },
    mistral: { ...mistral, sliding_window: 4096 },
    mixtral: {
      ...mistral,
      rope_theta: 1e6,
      rms_norm_eps: 1e-5,
      num_local_experts: 8,
      num_experts_per_tok: 2,
      sliding_window: null,
    },
  },
  keys: llamaKeys,
  tensors: llamaNames,
  prefix: { add: { LlamaModel: 'model.' } },
  respell: [[/text_model\./, '']],
  classDrops: { JanusForConditionalGeneration: [/^model\.(vision_model|aligner|vqmodel|generation_\w+)\./] },
  computed: 'rope-freqs',
  tokenizer: 'llama',
}

/** Built like Llama, without a gate in the feed-forward part. */
export const arcee: Family = {
  ...llama,
  architecture: 'arcee',
  classes: ['ArceeForCausalLM'],
  configs: {
    arcee: {
      ...llamaConfig,
      max_position_embeddings: 4096,
      hidden_size: 2560,
      intermediate_size: 18432,
      rms_norm_eps: 1e-5,
      head_dim: headSize,
    },
  },
  keys: [...llamaKeys, key.pooling],
}

/** Llama whose layers are gone through several times. */
export const nanbeige: Family = {
  ...llama,
  architecture: 'nanbeige',
  classes: ['NanbeigeForCausalLM'],
  configs: { nanbeige: {} },
  settings: Object.keys(llamaConfig),
  keys: [
    ...llamaKeys,
    {
      key: 'num_loops',
      type: 'u32',
      from: ['num_loops'],
      value: ({ config }) => Math.max(Math.trunc(Number(config.num_loops || 1)), 1),
    },
    {
      key: 'skip_loop_final_norm',
      type: 'bool',
      from: ['skip_loop_final_norm'],
      value: ({ config }) => Boolean(config.skip_loop_final_norm),
    },
  ],
}

/** Built like Llama, with biases, and rows that stay as they are. */
export const panguEmbedded: Family = {
  architecture: 'pangu-embedded',
  classes: ['PanguEmbeddedForCausalLM'],
  configs: { PanguEmbedded: {} },
  settings: Object.keys(llamaConfig),
  keys: [
    ...llamaKeys,
    { ...key.keyLength, value: ({ config }) => config.head_dim ?? headSize(config) },
    { ...key.valueLength, value: ({ config }) => config.head_dim ?? headSize(config) },
  ],
  tensors: { ...outerNames, ...preNormNames, ...attentionNames, ...gatedMlpNames },
  dropsTiedOutput: true,
  tokenizer: 'sentencepiece-with-prefix',
}

/** Beside the RoPE settings that are known. */
const ropeSetting =
  (name: string) =>
  (value: unknown, { rope_scaling: known }: Config): Config => ({
    rope_scaling: { ...(isObject(known) && known), [name]: value },
  })

/** Whose layers of Mistral are part of a model that sees. */
export const mistral3: Family = {
  ...llama,
  architecture: 'mistral3',
  classes: ['Mistral3ForConditionalGeneration', 'Ministral3ForCausalLM'],
  configs: {
    mistral: { ...mistral, sliding_window: 4096 },
    mistral3: {
      ...mistral,
      num_hidden_layers: 40,
      hidden_size: 5120,
      intermediate_size: 32768,
      head_dim: 128,
      rms_norm_eps: 1e-5,
      rope_theta: 1e9,
      sliding_window: null,
      vocab_size: 131072,
    },
    ministral3: {},
  },
  keys: [
    ...llamaKeys,
    {
      key: 'rope.scaling.yarn_log_multiplier',
      type: 'f32',
      value: ({ config, rope }) => (config.model_type === 'ministral3' ? num(rope, 'mscale_all_dim') : undefined),
      back: ropeSetting('mscale_all_dim'),
    },
    {
      key: 'attention.temperature_scale',
      type: 'f32',
      value: ({ config, rope }) => (config.model_type === 'ministral3' ? num(rope, 'llama_4_scaling_beta') : undefined),
      back: ropeSetting('llama_4_scaling_beta'),
    },
  ],
}

/** Llama that looks at a text from both sides, for embeddings. */
export const llamaEmbed: Family = {
  ...llama,
  architecture: 'llama-embed',
  classes: ['LlamaBidirectionalModel'],
  configs: { llama_bidirec: {} },
  prefix: { add: { LlamaBidirectionalModel: 'model.' } },
  settings: ['num_hidden_layers', 'max_position_embeddings', 'hidden_size', 'intermediate_size', 'num_attention_heads'],
}

/** Built like Llama; that some layers do without RoPE is known from the name. */
export const smolLm3: Family = {
  ...llama,
  architecture: 'smollm3',
  classes: ['SmolLM3ForCausalLM'],
  configs: {
    smollm3: {
      ...llamaConfig,
      num_hidden_layers: 36,
      max_position_embeddings: 32768,
      hidden_size: 2048,
      num_attention_heads: 16,
      num_key_value_heads: [4, heads],
      rope_theta: 2e6,
      vocab_size: 128256,
    },
  },
}

/** Built like Llama, with rows that stay as they are and a norm that is named after its place. */
export const seedOss: Family = {
  architecture: 'seed_oss',
  classes: ['SeedOssForCausalLM'],
  configs: {
    seed_oss: {
      ...llamaConfig,
      num_hidden_layers: 64,
      max_position_embeddings: 524288,
      intermediate_size: 27648,
      num_attention_heads: 80,
      num_key_value_heads: [8, heads],
      head_dim: [128, headSize],
      vocab_size: 155136,
    },
  },
  keys: commonKeys,
  tensors: {
    ...outerNames,
    ...attentionNames,
    ...gatedMlpNames,
    'model.layers.{n}.input_layernorm': 'blk.{n}.attn_norm',
    'model.layers.{n}.post_attention_layernorm': 'blk.{n}.post_attention_norm',
  },
  tokenizer: 'bpe',
}
