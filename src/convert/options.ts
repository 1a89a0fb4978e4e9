// Everything that a conversion can be asked for.
import type { Model, Part, WriteOptions } from '../model/index.js'
import type { FileOptions } from './files.js'
import type { MetadataOptions } from './plan-metadata.js'
import type { TensorOptions } from './plan-tensors.js'
import type { PlanAction } from './plan-types.js'
import type { RecodeOptions } from './recode.js'

export interface ConvertOptions extends TensorOptions, RecodeOptions, MetadataOptions, FileOptions {
  /** What was done to the model before it came here; it stands first in the plan. */
  readonly before?: Iterable<PlanAction> | undefined
  /** False: what the target has no place for is dropped, not put into its metadata; and nothing that was put there comes back. */
  readonly stow?: boolean | undefined
  /** Leave linear weights the way round that they have, whatever the target wants. */
  readonly keepOrientation?: boolean | undefined
  /** Without what an optimizer keeps beside the weights. */
  readonly dropState?: boolean | undefined
  /** Take such state from this model; the model itself turns tensors called `parameter#statistic` into state. */
  readonly stateFrom?: Model | undefined
  /** Parts to add, in place of those of the same kind and name. */
  readonly parts?: readonly Part[] | undefined
  /** Tensors with the same type, shape and bytes are stored once, where the target can do that. */
  readonly dedup?: boolean | undefined
  readonly shardSize?: number | undefined
  readonly align?: number | undefined
  readonly deterministic?: boolean | undefined
  readonly rewrite?: WriteOptions['rewrite']
  readonly extra?: WriteOptions['extra']
  readonly signal?: AbortSignal | undefined
}
