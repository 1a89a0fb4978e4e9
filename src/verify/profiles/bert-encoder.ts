// The tensors of a BERT encoder as the Hugging Face library names them, for profiles to share.
import type { ProfileTensor } from '../profile.js'

const layer = 'encoder.layer.{i}'
const vector = (name: string, dimension = 'hidden'): ProfileTensor => ({
  name: `${layer}.${name}`,
  each: 'layers',
  shape: [dimension],
})
const linear = (name: string, out: string, inner: string): ProfileTensor => ({
  name: `${layer}.${name}.weight`,
  each: 'layers',
  shape: [out, inner],
  linear: true,
})

export const bertEncoder: readonly ProfileTensor[] = [
  { name: 'embeddings.word_embeddings.weight', shape: ['vocab', 'hidden'] },
  { name: 'embeddings.position_embeddings.weight', shape: ['positions', 'hidden'] },
  { name: 'embeddings.token_type_embeddings.weight', shape: ['types', 'hidden'] },
  { name: 'embeddings.LayerNorm.weight', shape: ['hidden'] },
  { name: 'embeddings.LayerNorm.bias', shape: ['hidden'] },
  linear('attention.self.query', 'hidden', 'hidden'),
  vector('attention.self.query.bias'),
  linear('attention.self.key', 'hidden', 'hidden'),
  vector('attention.self.key.bias'),
  linear('attention.self.value', 'hidden', 'hidden'),
  vector('attention.self.value.bias'),
  linear('attention.output.dense', 'hidden', 'hidden'),
  vector('attention.output.dense.bias'),
  vector('attention.output.LayerNorm.weight'),
  vector('attention.output.LayerNorm.bias'),
  linear('intermediate.dense', 'intermediate', 'hidden'),
  vector('intermediate.dense.bias', 'intermediate'),
  linear('output.dense', 'hidden', 'intermediate'),
  vector('output.dense.bias'),
  vector('output.LayerNorm.weight'),
  vector('output.LayerNorm.bias'),
  { name: 'pooler.dense.weight', shape: ['hidden', 'hidden'], optional: true },
  { name: 'pooler.dense.bias', shape: ['hidden'], optional: true },
  { name: 'embeddings.position_ids', shape: [1, 'positions'], dtypes: ['i64'], optional: true },
]

/** The metadata that the EMBD specification requires of an encoder. */
export const encoderMetadata = [
  { key: 'model_name' },
  { key: 'model_version' },
  { key: 'embedding_dim', dimension: 'hidden' },
  { key: 'vocab_size', dimension: 'vocab' },
  { key: 'num_layers', dimension: 'layers' },
  { key: 'num_attention_heads', dimension: 'heads' },
  { key: 'hidden_size', dimension: 'hidden' },
  { key: 'intermediate_size', dimension: 'intermediate' },
  { key: 'max_position_emb', dimension: 'positions' },
  { key: 'created_at' },
] as const
