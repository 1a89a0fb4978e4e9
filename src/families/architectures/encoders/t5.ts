// T5 and its relatives: an encoder and a decoder, whose positions are learned distances.
import type { Default, Family, KeyRule, NameTable } from '../../family.js'
import { key } from '../shared-keys.js'

const t5Config: Readonly<Record<string, Default>> = {
  num_layers: 6,
  d_model: 512,
  d_kv: 64,
  d_ff: 2048,
  num_heads: 8,
  relative_attention_num_buckets: 32,
  layer_norm_epsilon: 1e-6,
  vocab_size: 32128,
}

const mt5Config: Readonly<Record<string, Default>> = {
  ...t5Config,
  num_layers: 8,
  d_ff: 1024,
  num_heads: 6,
  vocab_size: 250112,
}

const required = (key: string, type: 'u32' | 'f32', from: string): KeyRule => ({
  key,
  type,
  from: [from],
  required: true,
})

/** The decoder has as many layers as the encoder where nothing else is said. */
const decoderBlocks: KeyRule = {
  key: 'decoder_block_count',
  type: 'u32',
  from: ['num_decoder_layers'],
  value: ({ config }) => config.num_decoder_layers ?? config.num_layers,
}

const keys = (isWhole: boolean): readonly KeyRule[] => [
  { key: 'context_length', type: 'u32', from: ['n_positions'], value: ({ config }) => config.n_positions ?? 512 },
  required('embedding_length', 'u32', 'd_model'),
  required('feed_forward_length', 'u32', 'd_ff'),
  { ...key.blocks, from: ['num_layers'] },
  ...(isWhole ? [decoderBlocks] : []),
  required('attention.head_count', 'u32', 'num_heads'),
  required('attention.key_length', 'u32', 'd_kv'),
  required('attention.value_length', 'u32', 'd_kv'),
  required('attention.layer_norm_epsilon', 'f32', 'layer_norm_epsilon'),
  required('attention.relative_buckets_count', 'u32', 'relative_attention_num_buckets'),
  required('attention.layer_norm_rms_epsilon', 'f32', 'layer_norm_epsilon'),
  ...(isWhole ? [required('decoder_start_token_id', 'u32', 'decoder_start_token_id')] : []),
  key.fileType,
]

const attention = (part: string, layer: string, name: string, to: string): NameTable =>
  Object.fromEntries(
    [
      ['q', 'q'],
      ['k', 'k'],
      ['v', 'v'],
      ['o', 'o'],
      ['relative_attention_bias', 'rel_b'],
    ].map(([from, short]) => [`${part}.block.{n}.layer.${layer}.${name}.${from}`, `${to}_${short}`]),
  )

const feedForward = (part: string, layer: string, to: string): NameTable => ({
  [`${part}.block.{n}.layer.${layer}.layer_norm`]: `${to}.blk.{n}.ffn_norm`,
  [`${part}.block.{n}.layer.${layer}.DenseReluDense.wi_0`]: `${to}.blk.{n}.ffn_gate`,
  [`${part}.block.{n}.layer.${layer}.DenseReluDense.wi`]: `${to}.blk.{n}.ffn_up`,
  [`${part}.block.{n}.layer.${layer}.DenseReluDense.wi_1`]: `${to}.blk.{n}.ffn_up`,
  [`${part}.block.{n}.layer.${layer}.DenseReluDense.wo`]: `${to}.blk.{n}.ffn_down`,
})

const encoderNames: NameTable = {
  shared: 'token_embd',
  'encoder.block.{n}.layer.0.layer_norm': 'enc.blk.{n}.attn_norm',
  ...attention('encoder', '0', 'SelfAttention', 'enc.blk.{n}.attn'),
  ...feedForward('encoder', '1', 'enc'),
  'encoder.final_layer_norm': 'enc.output_norm',
}

const wholeNames: NameTable = {
  ...encoderNames,
  lm_head: 'output',
  'decoder.block.{n}.layer.0.layer_norm': 'dec.blk.{n}.attn_norm',
  ...attention('decoder', '0', 'SelfAttention', 'dec.blk.{n}.attn'),
  'decoder.block.{n}.layer.1.layer_norm': 'dec.blk.{n}.cross_attn_norm',
  ...attention('decoder', '1', 'EncDecAttention', 'dec.blk.{n}.cross_attn'),
  ...feedForward('decoder', '2', 'dec'),
  'decoder.final_layer_norm': 'dec.output_norm',
}

/** The embedding is stored under one of these names, or under several. */
const sameTensors = ['shared.weight', 'encoder.embed_tokens.weight', 'decoder.embed_tokens.weight']

export const t5: Family = {
  architecture: 't5',
  classes: [
    'T5ForConditionalGeneration',
    'T5WithLMHeadModel',
    'MT5ForConditionalGeneration',
    'UMT5ForConditionalGeneration',
    'UMT5Model',
  ],
  configs: { t5: t5Config, mt5: mt5Config, umt5: mt5Config },
  keys: keys(true),
  tensors: wholeNames,
  sameTensors,
  blocks: ['enc.blk.'],
  tokenizer: 't5',
}

export const t5Encoder: Family = {
  architecture: 't5encoder',
  classes: ['T5EncoderModel'],
  configs: { t5: t5Config },
  keys: keys(false),
  tensors: encoderNames,
  sameTensors,
  blocks: ['enc.blk.'],
  tokenizer: 't5',
}
