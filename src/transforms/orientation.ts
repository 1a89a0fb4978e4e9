// Transposes linear weights from [in, out] to [out, in] and back. Formats state the orientation they need; the orientation of a model
// follows from its names and shapes or from a part that its reader added. Only the weights in question are transposed, a band at a time
// while they are written.

import type { JsonValue, Model, Part, WriteCapabilities } from '../model/index.js'
import {
  findOrientation,
  type LinearWeights,
  type Orientation,
  orientationKind,
  statesOrientation,
} from '../model/orientation.js'
import { rowMajor, transposed } from './reorder.js'
import type { ReverseOptions } from './reverse-axes.js'

export interface OrientOptions extends ReverseOptions {
  /** The orientation of the model's linear weights, for callers that know better than the shapes. */
  readonly from?: Orientation | undefined
}

export interface Oriented {
  readonly model: Model
  /** The transposed weights. */
  readonly turned: readonly string[]
  readonly from?: Orientation
  readonly to?: Orientation
  /** The shapes do not show the orientation; the default of the source was used. */
  readonly isAssumed: boolean
}

const unchanged = (model: Model): Oriented => ({ model, turned: [], isAssumed: false })

/**
 * The model in the orientation that a target needs. A target without a preference gets [out, in] from models that state their orientation,
 * and others unchanged: shapes alone are no reason to transpose.
 */
export function orientFor(model: Model, wish: WriteCapabilities['orientation'], options?: OrientOptions): Oriented {
  if (wish === 'as-is') return unchanged(model)
  if (wish !== undefined) return orient(model, wish, options)
  const isStated = options?.from !== undefined || statesOrientation(model)
  return isStated ? orient(model, 'out-in', options) : unchanged(model)
}

/** The model with its linear weights in the given orientation. */
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

/** The orientation that the model's reader assumes; by default PyTorch's. */
function assumedBy(stated: Part | undefined): Orientation {
  const value = stated?.value as { readonly assumed?: JsonValue } | undefined
  return value?.assumed === 'in-out' ? 'in-out' : 'out-in'
}

function restated(part: Part, found: LinearWeights, linear: Orientation): Part {
  return { ...part, value: { linear, tensors: found.names.length }, content: { ...found, linear } }
}
