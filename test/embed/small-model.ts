// Encoders of any small shape, with values by the rule of the golden vectors.

import { tableOf, vocabularyPart } from '../../src/content/vocabulary.js'
import { f32 } from '../../src/dtypes/index.js'
import { encoderTensors } from '../../src/embed/names.js'
import { bytesPayload, type Model, type Tensor } from '../../src/model/index.js'
import { ruleValues } from './full-model.js'

export interface SmallShape {
  readonly hidden: number
  readonly intermediate: number
  readonly layers: number
  readonly vocabulary: number
  readonly positions: number
  readonly types: number
}

const usual: SmallShape = { hidden: 12, intermediate: 20, layers: 2, vocabulary: 16, positions: 10, types: 2 }
const words = [
  '[PAD]',
  '[UNK]',
  '[CLS]',
  '[SEP]',
  '[MASK]',
  'the',
  'fox',
  '##es',
  'run',
  'a',
  '.',
  'dog',
  'on',
  'of',
  'in',
  'at',
]

/** Linear weights are [in, out]. */
export function smallModel(shape: Partial<SmallShape> = {}): Model {
  const sizes = { ...usual, ...shape }
  const tensors = [...encoderTensors(sizes.layers)].map((each): Tensor => {
    const dims = each.shape.map((dimension) => sizes[dimension])
    const values = ruleValues(
      each.name,
      dims.reduce((product, size) => product * size, 1),
    )
    const data = bytesPayload(new Uint8Array(values.buffer))
    return { name: each.name, dtype: f32, shape: dims, order: 'row', role: 'weight', data }
  })
  const part = vocabularyPart(tableOf(words.map((word) => new TextEncoder().encode(word))))
  return { format: 'test', metadata: new Map(), tensors, parts: [part], files: [] }
}

export const withTensors = (model: Model, change: (tensor: Tensor) => Tensor | undefined): Model => ({
  ...model,
  tensors: model.tensors.map(change).filter((tensor) => tensor !== undefined),
})
