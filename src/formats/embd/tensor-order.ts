// The order that the reference converter writes an encoder's tensors in. Models that come from elsewhere are put into it, whatever order
// they had; tensors that it does not know follow in their own. A copy keeps the order that it has.
import type { Model, Tensor } from '../../model/index.js'
import { mannerOf } from './parts.js'

const embeddings = [
  'word_embeddings.weight',
  'position_embeddings.weight',
  'token_type_embeddings.weight',
  'LayerNorm.weight',
  'LayerNorm.bias',
]
const blocks = [
  'attention.self.query',
  'attention.self.key',
  'attention.self.value',
  'attention.output.dense',
  'attention.output.LayerNorm',
  'intermediate.dense',
  'output.dense',
  'output.LayerNorm',
]
const perLayer = blocks.flatMap((block) => [`${block}.weight`, `${block}.bias`])
const embeddingRank = new Map(embeddings.map((name, rank) => [`embeddings.${name}`, rank]))
const layerRank = new Map(perLayer.map((name, rank) => [name, rank]))

export const inFileOrder = (model: Model): readonly Tensor[] =>
  mannerOf(model) || model.origin?.format === 'embd' ? model.tensors : inReferenceOrder(model.tensors)

export function inReferenceOrder(tensors: readonly Tensor[]): readonly Tensor[] {
  const ranked = tensors.map((tensor) => ({ tensor, rank: rankOf(tensor.name) }))
  if (!ranked.some(({ rank }) => Number.isFinite(rank))) return tensors
  // Infinities compare as equal.
  return ranked.sort((a, b) => (a.rank === b.rank ? 0 : a.rank - b.rank)).map(({ tensor }) => tensor)
}

function rankOf(name: string): number {
  const embedding = embeddingRank.get(name)
  if (embedding !== undefined) return embedding
  const [, layer, rest] = /^encoder\.layer\.(\d{1,6})\.(.+)$/.exec(name) ?? []
  const rank = layerRank.get(rest ?? '')
  return rank === undefined ? Number.POSITIVE_INFINITY : embeddings.length + Number(layer) * perLayer.length + rank
}
