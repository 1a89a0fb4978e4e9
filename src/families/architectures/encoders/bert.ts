// BERT and its relatives: encoders that turn text into embeddings.
import { isObject, num } from '../../facts.js'
import type { Config, Default, Facts, Family, KeyRule, NameTable } from '../../family.js'
import { commonKeys, key } from '../shared-keys.js'

/** What a classifier tells apart. The two labels that the library makes up do not count. */
export function labelsIn({ config }: Pick<Facts, 'config'>): readonly unknown[] | undefined {
  const { id2label, num_labels = 2 } = config
  if (!isObject(id2label)) {
    if (typeof num_labels !== 'number' || num_labels === 2 || num_labels > maxLabels) return undefined
    return Array.from({ length: num_labels }, (_, i) => `LABEL_${i}`)
  }
  const stated = Object.entries(id2label).sort(([a], [b]) => Number(a) - Number(b))
  const isMadeUp = stated.length === 2 && id2label[0] === 'LABEL_0'
  return isMadeUp || stated.length === 0 ? undefined : stated.map(([, label]) => label)
}

/** No classifier has more. */
const maxLabels = 1_000_000

export const labels: KeyRule = {
  key: 'classifier.output_labels',
  type: 'strs',
  value: labelsIn,
  back: (value) =>
    Array.isArray(value)
      ? {
          id2label: Object.fromEntries(value.map((label, i) => [String(i), label])),
          label2id: Object.fromEntries(value.map((label, i) => [String(label), i])),
        }
      : {},
}

const keys: readonly KeyRule[] = [
  ...commonKeys,
  { key: 'attention.causal', type: 'bool', value: () => false },
  key.pooling,
  labels,
]

/** The layers behind an encoder that tell classes apart. */
const classifierNames: NameTable = {
  'classifier.dense': 'cls',
  pre_classifier: 'cls',
  'classifier.out_proj': 'cls.output',
  classifier: 'cls.output',
}

/** A classifier of one layer is the last one, where there are classes. */
export const namedClassifier = (name: string, config: Config): string =>
  /^classifier\.(weight|bias)$/.test(name) && !labelsIn({ config }) ? `pre_${name}` : name

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
  classifier: 'cls.output',
  pre_classifier: 'cls',
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
  classes: ['BertModel', 'BertForMaskedLM', 'BertForSequenceClassification', 'CamembertModel'],
  tells: { BertForSequenceClassification: /^cls\./ },
  configs: { bert: config, camembert: config },
  keys,
  tensors: bertNames,
  prefix: { remove: ['bert.'] },
  respell,
  named: namedClassifier,
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
  classes: ['RobertaModel', 'RobertaForSequenceClassification'],
  tells: { RobertaForSequenceClassification: /^cls\./ },
  configs: { roberta: { ...config, vocab_size: 50265, pad_token_id: 1 } },
  settle: settlePositions,
  unsettle: statePositions,
  keys,
  tensors: {
    ...classifierNames,
    ...bertNames,
    'embeddings.position_embeddings': { to: 'position_embd', by: 'skip-padding-positions' },
  },
  prefix: { remove: ['roberta.', 'bert.'] },
  respell,
  named: namedClassifier,
  drops,
  tokenizer: 'bpe-or-wordpiece',
}

export const xlmRoberta: Family = {
  ...roberta,
  classes: ['XLMRobertaModel', 'XLMRobertaForSequenceClassification'],
  tells: { XLMRobertaForSequenceClassification: /^cls\./ },
  configs: { 'xlm-roberta': { ...config, pad_token_id: 1 } },
  tokenizer: 'xlm-roberta',
}

const distilled = 'transformer.layer.{n}'
export const distilBert: Family = {
  architecture: 'bert',
  classes: ['DistilBertModel', 'DistilBertForMaskedLM', 'DistilBertForSequenceClassification'],
  tells: { DistilBertForSequenceClassification: /^cls\./ },
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
    pre_classifier: 'cls',
    classifier: 'cls.output',
  },
  prefix: { remove: ['distilbert.', 'bert.'] },
  respell,
  named: namedClassifier,
  drops: [...drops, /^vocab_/],
  tokenizer: 'wordpiece',
}

/** The published models were trained on fewer positions than they state. */
function settleTrained(config: Config): Config {
  const trained = num({ max_trained_positions: 2048, ...config }, 'max_trained_positions')
  const positions = num(config, 'n_positions')
  if (trained !== 2048 || (positions !== 8192 && positions !== 2048)) return config
  return { ...config, n_positions: positions === 8192 ? 2048 : 512 }
}

const nomicNames: NameTable = {
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
}

export const nomicBert: Family = {
  architecture: 'nomic-bert',
  classes: ['NomicBertModel'],
  configs: { nomic_bert: {} },
  settings: ['n_layer', 'n_positions', 'n_embd', 'n_inner', 'n_head', 'layer_norm_epsilon'],
  settle: settleTrained,
  unsettle: (config) => ({ ...config, n_positions: config.n_positions === 512 ? 2048 : 8192 }),
  keys,
  tensors: nomicNames,
  prefix: { remove: ['bert.'] },
  respell,
  named: namedClassifier,
  drops,
  tokenizer: 'nomic',
}

/** Every second layer has experts, whose matrices stand below each other. */
export const nomicBertMoe: Family = {
  ...nomicBert,
  architecture: 'nomic-bert-moe',
  isMeant: (config) => Boolean(config.moe_every_n_layers),
  settings: [...nomicBert.settings!, 'num_experts', 'moe_top_k'],
  keys: [
    ...keys,
    { key: 'moe_every_n_layers', type: 'u32', from: ['moe_every_n_layers'], required: true },
    { key: 'expert_used_count', type: 'u32', from: ['moe_top_k'], required: true },
  ],
  tensors: {
    ...nomicNames,
    'encoder.layers.{n}.mlp.fc1': 'blk.{n}.ffn_up',
    'encoder.layers.{n}.mlp.router.layer': 'blk.{n}.ffn_gate_inp',
    'encoder.layers.{n}.mlp.experts.mlp.w1': { to: 'blk.{n}.ffn_up_exps.weight', by: 'expert-rows' },
    'encoder.layers.{n}.mlp.experts.mlp.w2': { to: 'blk.{n}.ffn_down_exps.weight', by: 'expert-rows-transposed' },
  },
  drops: [...drops, /mlp\.experts\.bias/],
}

const jina = 'encoder.layer.{n}'
/** BERT without positions: how far apart tokens are is added to what they have to do with each other. */
export const jinaBert2: Family = {
  architecture: 'jina-bert-v2',
  classes: ['JinaBertModel', 'JinaBertForMaskedLM'],
  configs: { bert: config, jina_bert: {} },
  settings: ['num_hidden_layers', 'max_position_embeddings', 'hidden_size', 'intermediate_size', 'num_attention_heads'],
  keys,
  tensors: {
    [`${jina}.layer_norm_1`]: 'blk.{n}.attn_norm_2',
    [`${jina}.attention.self.layer_norm_q`]: 'blk.{n}.attn_q_norm',
    [`${jina}.attention.self.layer_norm_k`]: 'blk.{n}.attn_k_norm',
    [`${jina}.mlp.gated_layers_v`]: 'blk.{n}.ffn_up',
    [`${jina}.mlp.gated_layers`]: 'blk.{n}.ffn_up',
    [`${jina}.mlp.up_gated_layer`]: 'blk.{n}.ffn_up',
    [`${jina}.mlp.gated_layers_w`]: 'blk.{n}.ffn_gate',
    [`${jina}.mlp.wo`]: 'blk.{n}.ffn_down',
    [`${jina}.mlp.down_layer`]: 'blk.{n}.ffn_down',
    [`${jina}.mlp.layernorm`]: 'blk.{n}.layer_output_norm',
    [`${jina}.layer_norm_2`]: 'blk.{n}.layer_output_norm',
    ...bertNames,
  },
  prefix: { remove: ['bert.'] },
  respell,
  named: namedClassifier,
  drops,
  tokenizer: 'jina-2',
}
