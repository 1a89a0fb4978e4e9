// The orientation of linear weights. PyTorch stores a layer as [out, in] and computes W·x; other programs store the transpose, [in, out],
// and compute x·W. A square matrix does not show which it is, and the wrong one silently gives wrong results.
//
// In a BERT encoder one matrix of each layer decides for all six: with H columns of the word embeddings and I biases,
// `intermediate.dense.weight` is [I, H] or [H, I].

import type { Model, Tensor } from './model.js'

export type Orientation = 'in-out' | 'out-in'

/** The kind of the part that states a model's orientation. It is derived: writing the other orientation changes it. */
export const orientationKind = 'orientation'

export const statesOrientation = ({ parts }: Pick<Model, 'parts'>): boolean =>
  parts.some(({ kind }) => kind === orientationKind)

export interface LinearWeights {
  /** `undecidable`: there are linear weights, but their shapes are ambiguous or contradict each other. */
  readonly linear: Orientation | 'undecidable' | 'none'
  /** The linear weights in question, in file order. */
  readonly names: readonly string[]
}

const linearWeight =
  /(?:^|\.)encoder\.layer\.\d+\.(?:attention\.(?:self\.(?:query|key|value)|output\.dense)|(?:intermediate|output)\.dense)\.weight$/
const expanding = 'intermediate.dense.weight'

export function findOrientation(tensors: readonly Tensor[]): LinearWeights {
  const linear = tensors.filter((tensor) => tensor.shape.length === 2 && linearWeight.test(tensor.name))
  if (linear.length === 0) return { linear: 'none', names: [] }
  const witnesses = linear.filter(({ name }) => name.endsWith(expanding))
  const stems = witnesses.map(({ name }) => name.slice(0, -expanding.length))
  const wanted = new Set(stems.flatMap((stem) => [`${stem}intermediate.dense.bias`, `${stem}output.dense.bias`]))
  const lengths = new Map<string, number>()
  let hidden: number | undefined
  for (const { name, shape } of tensors) {
    if (shape.length === 1 && wanted.has(name)) lengths.set(name, shape[0]!)
    else if (shape.length === 2 && name.endsWith('embeddings.word_embeddings.weight')) hidden = shape[1]
  }
  const verdicts = new Set(
    witnesses.map(({ shape }, i) =>
      judge(
        shape,
        hidden ?? lengths.get(`${stems[i]}output.dense.bias`),
        lengths.get(`${stems[i]}intermediate.dense.bias`),
      ),
    ),
  )
  const [verdict, ...others] = verdicts
  const names = linear.map(({ name }) => name)
  return { linear: verdict === undefined || others.length > 0 ? 'undecidable' : verdict, names }
}

function judge(
  [rows, columns]: readonly number[],
  hidden: number | undefined,
  intermediate: number | undefined,
): Orientation | 'undecidable' {
  if (hidden === undefined || intermediate === undefined || hidden === intermediate) return 'undecidable'
  if (rows === hidden && columns === intermediate) return 'in-out'
  return rows === intermediate && columns === hidden ? 'out-in' : 'undecidable'
}
