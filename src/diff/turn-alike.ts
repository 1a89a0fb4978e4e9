// If the linear weights of two models are stated to lie in different orientations, both are compared as [out, in]: a weight that a
// conversion transposed is still the same weight.

import type { Model } from '../model/index.js'
import { findOrientation, orientationKind } from '../model/orientation.js'
import { orientFor } from '../transforms/orientation.js'

export function turnAlike(a: Model, b: Model): readonly [Model, Model] {
  const [here, there] = [statementOf(a), statementOf(b)]
  if ((!here && !there) || orientationOf(a, here) === orientationOf(b, there)) return [a, b]
  return [orientFor(a, undefined).model, orientFor(b, undefined).model]
}

interface Statement {
  readonly assumed?: unknown
}

const statementOf = ({ parts }: Model): Statement | undefined =>
  parts.find(({ kind }) => kind === orientationKind)?.value as Statement | undefined

/** As the shapes show it; if they do not, the format's default. */
function orientationOf({ tensors }: Model, stated: Statement | undefined): unknown {
  const { linear } = findOrientation(tensors)
  return linear === 'undecidable' ? (stated?.assumed ?? 'out-in') : linear
}
