// Turning linear weights from [in, out] to [out, in] and back. Formats say which way they want them; a model says, by its names and
// shapes or by a part that its reader left, which way it has them. Only the weights that the verdict is about are turned, and each is
// turned while it is written, a band at a time.

import type { JsonValue, Model, Part, WriteCapabilities } from '../model/index.js'
import { findOrientation, type LinearWeights, type Orientation, orientationKind } from '../model/orientation.js'
import { rowMajor, transposed } from './reorder.js'
import type { ReverseOptions } from './reverse-axes.js'

export interface OrientOptions extends ReverseOptions {
  /** How linear weights lie in the model, for callers who know better than its shapes tell. */
  readonly from?: Orientation | undefined
}

export interface Oriented {
  readonly model: Model
  /** The weights that are turned. */
  readonly turned: readonly string[]
  readonly from?: Orientation
  readonly to?: Orientation
  /** The shapes do not tell how the weights lie; what is usual for the source was taken. */
  readonly isAssumed: boolean
}

const unchanged = (model: Model): Oriented => ({ model, turned: [], isAssumed: false })

/**
 * The model as a target wants it. A target without a wish gets [out, in] from models that state how they lie, and everything else as
 * it is: shapes alone are no reason to turn weights that nobody asked to have turned.
 */
export function orientFor(model: Model, wish: WriteCapabilities['orientation'], options?: OrientOptions): Oriented {
  if (wish === 'as-is') return unchanged(model)
  if (wish !== undefined) return orient(model, wish, options)
  const isStated = options?.from !== undefined || model.parts.some((part) => part.kind === orientationKind)
  return isStated ? orient(model, 'out-in', options) : unchanged(model)
}

/** The model with its linear weights the given way round. */
export function orient(model: Model, to: Orientation, options: OrientOptions = {}): Oriented {
  const stated = model.parts.find((part) => part.kind === orientationKind)
  const found = findOrientation(model.tensors)
  if (found.linear === 'none') return unchanged(model)
  const isAssumed = options.from === undefined && found.linear === 'undecidable'
  const from = options.from ?? (found.linear === 'undecidable' ? assumedBy(stated) : found.linear)
  if (from === to) return { ...unchanged(model), from, to, isAssumed }
  const names = new Set(found.names)
  const tensors = model.tensors.map((tensor) =>
    names.has(tensor.name) ? rowMajor(transposed(tensor), options) : tensor,
  )
  const parts = model.parts.map((part) => (part === stated ? restated(part, found, to) : part))
  return { model: { ...model, tensors, parts }, turned: found.names, from, to, isAssumed }
}

/** What the reader of the model takes as usual; without a word from it, the way of PyTorch. */
function assumedBy(stated: Part | undefined): Orientation {
  const value = stated?.value as { readonly assumed?: JsonValue } | undefined
  return value?.assumed === 'in-out' ? 'in-out' : 'out-in'
}

function restated(part: Part, found: LinearWeights, linear: Orientation): Part {
  return { ...part, value: { linear, tensors: found.names.length }, content: { ...found, linear } }
}
