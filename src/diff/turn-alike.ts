// Where a model states which way round its linear weights lie, and those of the other one lie the other way round, both are compared as
// [out, in]: what a conversion turns is the same weight before and after.

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

/** As the shapes tell it; where they do not, as is usual for the format. */
function orientationOf({ tensors }: Model, stated: Statement | undefined): unknown {
  const { linear } = findOrientation(tensors)
  return linear === 'undecidable' ? (stated?.assumed ?? 'out-in') : linear
}
