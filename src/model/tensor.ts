import type { DType } from '../dtypes/dtype.js'
import type { JsonValue } from './metadata.js'
import type { Payload } from './payload.js'

/** Affine quantization that a container states beside the tensor: real = scale · (stored − zero point). */
export interface QuantParams {
  readonly scheme: 'symmetric' | 'asymmetric'
  /** The dimension that scales vary along; undefined if one scale applies to the whole tensor. */
  readonly axis?: number | undefined
  readonly scales: readonly number[]
  readonly zeroPoints?: readonly number[] | undefined
}

export interface Tensor {
  readonly name: string
  /** The file has no name for it, so it is named after the file. */
  readonly isNamedByFile?: true | undefined
  /** In hierarchical formats, the names from the root down; `name` joins them. */
  readonly path?: readonly string[] | undefined
  /** The bytes of the name if they are not UTF-8, one entry per segment of `path` (or one for `name`). */
  readonly rawName?: readonly Uint8Array[] | undefined
  readonly dtype: DType
  /** The type inside a `packed` tensor, if its codec is known. */
  readonly encoding?: DType | undefined
  /** Logical dimensions, outermost first, whatever the order of the stored bytes. */
  readonly shape: readonly number[]
  /** The exact shape, for tensors without elements or data whose dimensions no number holds; see `dims.ts`. */
  readonly exactShape?: readonly bigint[] | undefined
  readonly order: 'row' | 'column'
  /** `state` belongs to an optimizer. */
  readonly role: 'weight' | 'state'
  /** The name of the statistic, for optimizer moments of a parameter. */
  readonly stat?: string | undefined
  /** null: declared, but without data. */
  readonly data: Payload | null
  readonly quant?: QuantParams | undefined
  /** What only the owner format says about this tensor, for `inspect` and for writing it back. */
  readonly extra?: Readonly<Record<string, JsonValue>> | undefined
}
