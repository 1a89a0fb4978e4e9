// The tensors of a BERT encoder under the names of the Hugging Face library.
import { wordTable } from '../content/encoder-names.js'

export const positionTable = 'embeddings.position_embeddings.weight'
export const typeTable = 'embeddings.token_type_embeddings.weight'
export const embeddingNorm = 'embeddings.LayerNorm'

export interface LinearNames {
  readonly weight: string
  readonly bias: string
}

/** A linear layer or a layer norm: both are a weight and a bias. */
export const partsOf = (stem: string): LinearNames => ({ weight: `${stem}.weight`, bias: `${stem}.bias` })

export interface LayerNames {
  readonly query: string
  readonly key: string
  readonly value: string
  readonly attentionOutput: string
  readonly attentionNorm: string
  readonly intermediate: string
  readonly output: string
  readonly outputNorm: string
}

export function layerNames(layer: number): LayerNames {
  const stem = `encoder.layer.${layer}`
  return {
    query: `${stem}.attention.self.query`,
    key: `${stem}.attention.self.key`,
    value: `${stem}.attention.self.value`,
    attentionOutput: `${stem}.attention.output.dense`,
    attentionNorm: `${stem}.attention.output.LayerNorm`,
    intermediate: `${stem}.intermediate.dense`,
    output: `${stem}.output.dense`,
    outputNorm: `${stem}.output.LayerNorm`,
  }
}

/** The number of layers that the names imply: one more than the highest index. */
export function layerCount(names: Iterable<string>, prefix: string): number {
  let count = 0
  for (const name of names) {
    if (!name.startsWith(`${prefix}encoder.layer.`)) continue
    const layer = /^(\d{1,6})\./.exec(name.slice(prefix.length + 'encoder.layer.'.length))?.[1]
    if (layer !== undefined) count = Math.max(count, Number(layer) + 1)
  }
  return count
}

type Dimension = 'vocabulary' | 'positions' | 'types' | 'hidden' | 'intermediate'

export interface EncoderTensor {
  readonly name: string
  /** Dimensions by name; linear weights as [in, out]. */
  readonly shape: readonly Dimension[]
}

/** All tensors that an encoder with this many layers needs. A generator, since the number of layers is only a claim of the file. */
export function* encoderTensors(layers: number): Generator<EncoderTensor> {
  yield { name: wordTable, shape: ['vocabulary', 'hidden'] }
  yield { name: positionTable, shape: ['positions', 'hidden'] }
  yield { name: typeTable, shape: ['types', 'hidden'] }
  yield* norm(embeddingNorm)
  for (let layer = 0; layer < layers; layer++) {
    const names = layerNames(layer)
    for (const stem of [names.query, names.key, names.value, names.attentionOutput])
      yield* linear(stem, 'hidden', 'hidden')
    yield* norm(names.attentionNorm)
    yield* linear(names.intermediate, 'hidden', 'intermediate')
    yield* linear(names.output, 'intermediate', 'hidden')
    yield* norm(names.outputNorm)
  }
}

function* linear(stem: string, from: Dimension, to: Dimension): Generator<EncoderTensor> {
  yield { name: partsOf(stem).weight, shape: [from, to] }
  yield { name: partsOf(stem).bias, shape: [to] }
}

function* norm(stem: string): Generator<EncoderTensor> {
  yield { name: partsOf(stem).weight, shape: ['hidden'] }
  yield { name: partsOf(stem).bias, shape: ['hidden'] }
}
