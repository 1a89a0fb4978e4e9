// BERT and its relatives: encoders that turn text into embeddings.
import { num } from '../../facts.js'
import type { Config, Default, Family, KeyRule, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'

const keys: readonly KeyRule[] = [
  ...commonKeys,
  { key: 'attention.causal', type: 'bool', value: () => false },
  key.pooling,
]

const embeddings: NameTable = {
  'embeddings.word_embeddings': 'token_embd',
  'embeddings.position_embeddings': 'position_embd',
  'embeddings.token_type_embeddings': 'token_types',
  'embeddings.LayerNorm': 'token_embd_norm',
  emb_ln: 'token_embd_norm',
}

const layer = 'encoder.layer.{n}'
const bertNames: NameTable = {
  ...embeddings,
  [`${layer}.attention.self.query`]: 'blk.{n}.attn_q',
  [`${layer}.attention.self.key`]: 'blk.{n}.attn_k',
  [`${layer}.attention.self.value`]: 'blk.{n}.attn_v',
  [`${layer}.attention.output.dense`]: 'blk.{n}.attn_output',
  [`${layer}.attention.output.LayerNorm`]: 'blk.{n}.attn_output_norm',
  [`${layer}.intermediate.dense`]: 'blk.{n}.ffn_up',
  [`${layer}.output.dense`]: 'blk.{n}.ffn_down',
  [`${layer}.output.LayerNorm`]: 'blk.{n}.layer_output_norm',
}

/** Old checkpoints call the two halves of a norm gamma and beta. */
const respell: Family['respell'] = [
  [/\.gamma$/, '.weight'],
  [/\.beta$/, '.bias'],
]
/** The heads that models were trained with. */
const drops = [/^embeddings\.position_ids$/, /^pooler\.dense\.(weight|bias)$/, /^cls\.(predictions|seq_relationship)/]

const config: Readonly<Record<string, Default>> = {
  num_hidden_layers: 12,
  max_position_embeddings: 512,
  max_length: 20,
  hidden_size: 768,
  intermediate_size: 3072,
  num_attention_heads: 12,
  layer_norm_eps: 1e-12,
  type_vocab_size: 2,
  vocab_size: 30522,
}

export const bert: Family = {
  architecture: 'bert',
  classes: ['BertModel', 'BertForMaskedLM'],
  configs: { bert: config },
  keys,
  tensors: bertNames,
  prefix: { remove: ['bert.'] },
  respell,
  drops,
  tokenizer: 'wordpiece',
}

/** The first rows of the position table stand for padding, and no text has such positions. */
function settlePositions(config: Config): Config {
  const { pad_token_id: pad, max_position_embeddings: positions } = config
  if (typeof pad !== 'number' || typeof positions !== 'number') return config
  return { ...config, max_position_embeddings: positions - pad - 1 }
}

function statePositions(config: Config): Config {
  const pad = num({ pad_token_id: 1, ...config }, 'pad_token_id')
  return { ...config, max_position_embeddings: num(config, 'max_position_embeddings') + pad + 1 }
}

export const roberta: Family = {
  architecture: 'bert',
  classes: ['RobertaModel'],
  configs: { roberta: { ...config, vocab_size: 50265, pad_token_id: 1 } },
  settle: settlePositions,
  unsettle: statePositions,
  keys,
  tensors: {
    ...bertNames,
    'embeddings.position_embeddings': { to: 'position_embd', by: 'skip-padding-positions' },
  },
  prefix: { remove: ['roberta.', 'bert.'] },
  respell,
  drops,
  tokenizer: 'bpe-or-wordpiece',
}

export const xlmRoberta: Family = {
  ...roberta,
  classes: ['XLMRobertaModel'],
  configs: { 'xlm-roberta': { ...config, pad_token_id: 1 } },
  tokenizer: 'xlm-roberta',
}

const distilled = 'transformer.layer.{n}'
export const distilBert: Family = {
  architecture: 'bert',
  classes: ['DistilBertModel', 'DistilBertForMaskedLM'],
  configs: {
    distilbert: {
      n_layers: 6,
      max_position_embeddings: 512,
      max_length: 20,
      dim: 768,
      hidden_dim: 3072,
      n_heads: 12,
      vocab_size: 30522,
    },
  },
  keys: [{ key: 'attention.layer_norm_epsilon', type: 'f32', value: () => 1e-12 }, ...keys],
  tensors: {
    ...embeddings,
    [`${distilled}.attention.q_lin`]: 'blk.{n}.attn_q',
    [`${distilled}.attention.k_lin`]: 'blk.{n}.attn_k',
    [`${distilled}.attention.v_lin`]: 'blk.{n}.attn_v',
    [`${distilled}.attention.out_lin`]: 'blk.{n}.attn_output',
    [`${distilled}.sa_layer_norm`]: 'blk.{n}.attn_output_norm',
    [`${distilled}.ffn.lin1`]: 'blk.{n}.ffn_up',
    [`${distilled}.ffn.lin2`]: 'blk.{n}.ffn_down',
    [`${distilled}.output_layer_norm`]: 'blk.{n}.layer_output_norm',
  },
  prefix: { remove: ['distilbert.', 'bert.'] },
  respell,
  drops: [...drops, /^vocab_/],
  tokenizer: 'wordpiece',
}

/** The published models were trained on fewer positions than they state. */
function settleTrained(config: Config): Config {
  const trained = num({ max_trained_positions: 2048, ...config }, 'max_trained_positions')
  const positions = num(config, 'n_positions')
  return positions === 8192 && trained === 2048 ? { ...config, n_positions: 2048 } : config
}

export const nomicBert: Family = {
  architecture: 'nomic-bert',
  classes: ['NomicBertModel'],
  configs: { nomic_bert: {} },
  settings: ['n_layer', 'n_positions', 'n_embd', 'n_inner', 'n_head', 'layer_norm_epsilon'],
  settle: settleTrained,
  keys,
  tensors: {
    // Before the name that BERT has for it, which is not what these models are published with.
    emb_ln: 'token_embd_norm',
    ...embeddings,
    'encoder.layers.{n}.attn.Wqkv': 'blk.{n}.attn_qkv',
    'encoder.layers.{n}.attn.out_proj': 'blk.{n}.attn_output',
    'encoder.layers.{n}.norm1': 'blk.{n}.attn_output_norm',
    'encoder.layers.{n}.mlp.fc11': 'blk.{n}.ffn_up',
    'encoder.layers.{n}.mlp.fc12': 'blk.{n}.ffn_gate',
    'encoder.layers.{n}.mlp.fc2': 'blk.{n}.ffn_down',
    'encoder.layers.{n}.norm2': 'blk.{n}.layer_output_norm',
  },
  prefix: { remove: ['bert.'] },
  respell,
  drops,
  tokenizer: 'wordpiece',
}
