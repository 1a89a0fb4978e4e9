// The full-shape model of the golden vectors, made by the rule that goes with them.
import { fnv1a32 } from '../../src/digest/hasher.js'
import { f32 } from '../../src/dtypes/index.js'
import { bytesPayload, type Model, type Part, type Tensor } from '../../src/model/index.js'
import { fixtureBytes } from '../support/fixtures.js'

interface GoldenSentence {
  readonly id: string
  readonly text: string
  readonly max_seq_length: number
  readonly normalize: boolean
  readonly token_ids: readonly number[]
  readonly vector: readonly number[]
}

export interface Golden {
  readonly weights_rule: {
    readonly tensor_checks: readonly {
      readonly name: string
      readonly stored_shape: readonly number[]
      readonly sha256_stored_float32le: string
    }[]
  }
  readonly sentences: readonly GoldenSentence[]
  readonly tiny_models: readonly {
    readonly file: string
    readonly num_attention_heads: number
    readonly tolerance_max_abs: number
    readonly cases: readonly (Omit<GoldenSentence, 'id' | 'normalize'> & { readonly raw_mean: readonly number[] })[]
  }[]
  readonly original_model_profile: {
    readonly cases: readonly { readonly id: string; readonly token_ids: readonly number[]; readonly vector: number[] }[]
  }
}

export const golden = JSON.parse(new TextDecoder().decode(fixtureBytes('embd', 'embeddings.json'))) as Golden

/** Values by the rule: a generator that starts at the hash of the name, scaled by what kind of tensor it is. */
export function ruleValues(name: string, count: number): Float32Array {
  const values = new Float32Array(count)
  const isScale = name.includes('LayerNorm.weight')
  const divisor = isScale ? 8 : name.includes('LayerNorm.bias') ? 16 : name.endsWith('.bias') ? 32 : 8
  let x = fnv1a32(new TextEncoder().encode(name))
  for (let i = 0; i < count; i++) {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0
    values[i] = (isScale ? 1 : 0) + ((x >>> 16) - 32768) / 32768 / divisor
  }
  return values
}

const [hidden, intermediate] = [384, 1536]

/** Names and shapes as the stream layout stores them, in its order. */
export function* fullShape(): Generator<[name: string, shape: readonly number[]]> {
  yield ['embeddings.word_embeddings.weight', [30522, hidden]]
  yield ['embeddings.position_embeddings.weight', [512, hidden]]
  yield ['embeddings.token_type_embeddings.weight', [2, hidden]]
  yield ['embeddings.LayerNorm.weight', [hidden]]
  yield ['embeddings.LayerNorm.bias', [hidden]]
  for (let layer = 0; layer < 6; layer++) {
    const linear = function* (name: string, from: number, to: number): Generator<[string, readonly number[]]> {
      yield [`encoder.layer.${layer}.${name}.weight`, [from, to]]
      yield [`encoder.layer.${layer}.${name}.bias`, [to]]
    }
    const norm = function* (name: string): Generator<[string, readonly number[]]> {
      yield [`encoder.layer.${layer}.${name}.weight`, [hidden]]
      yield [`encoder.layer.${layer}.${name}.bias`, [hidden]]
    }
    for (const name of ['query', 'key', 'value']) yield* linear(`attention.self.${name}`, hidden, hidden)
    yield* linear('attention.output.dense', hidden, hidden)
    yield* norm('attention.output.LayerNorm')
    yield* linear('intermediate.dense', hidden, intermediate)
    yield* linear('output.dense', intermediate, hidden)
    yield* norm('output.LayerNorm')
  }
}

export function fullModel(parts: readonly Part[] = []): Model {
  const tensors = [...fullShape()].map(([name, shape]): Tensor => {
    const values = ruleValues(
      name,
      shape.reduce((product, size) => product * size, 1),
    )
    return { name, dtype: f32, shape, order: 'row', role: 'weight', data: bytesPayload(new Uint8Array(values.buffer)) }
  })
  return { format: 'test', metadata: new Map(), tensors, parts, files: [] }
}

export const largestDifference = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY
  let largest = 0
  for (let i = 0; i < a.length; i++) {
    const difference = Math.abs(a[i]! - b[i]!)
    if (!(difference <= largest)) largest = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference
  }
  return largest
}
