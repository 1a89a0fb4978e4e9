// The description of a model, as a program writes it. JSON and YAML use plain values; their schema is in docs/schema.
import type { Float } from './float.js'

/** Whole numbers beyond 2^53-1 are bigints. */
export type SizeValue = number | bigint

/** A number, the name of a size variable, or a product of these: `16`, `'D'`, `'2*D'`. */
export type Dimension<S extends string = string> = number | S | `${S | number}*${string}` | `${S | number} * ${string}`

/** Values that JSON cannot write as numbers. */
export type SpecialNumber = 'NaN' | 'Infinity' | '-Infinity'
export type NumberValue = number | bigint | boolean | Float | SpecialNumber
/** Nested lists, all of one length at each level. */
export type NestedList = readonly (NumberValue | NestedList)[]
/** Typed arrays imply their element type. */
export type NumericArray =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array
  | Float32Array
  | Float64Array

export interface QuantDescription {
  readonly scheme: 'symmetric' | 'asymmetric'
  /** One number for the whole tensor, or one for each index along `axis`. Stored as f32. */
  readonly scales: number | readonly number[] | Float32Array | Float64Array
  /** As many as scales; only for the asymmetric scheme. Stored as i32. */
  readonly zeroPoints?: number | readonly number[] | Int32Array | undefined
  /** The dimension that scales and zero points run along. */
  readonly axis?: number | undefined
}

interface ArrayFile {
  /** A `.npy` or `.npz` file, or the raw elements in row-major order, which need `dtype` and `shape`. */
  readonly file: string
  /** Which array of an `.npz` file. Default: the one with the name of the field, or the only one. */
  readonly member?: string | undefined
}

export interface TensorFields<S extends string = string> {
  /** The element type, by name or by its number in OINF files. Default: inferred from the data. */
  readonly dtype?: string | number | undefined
  readonly shape?: readonly Dimension<S>[] | undefined
  /** null: declared without data. Absent: to be filled in. */
  readonly data?: NumberValue | NestedList | NumericArray | null | undefined
  /** Replaces `data`: a `.npy` or `.npz` file, or the raw elements. */
  readonly file?: string | undefined
  /** Which array of an `.npz` file. Default: the one with the name of the tensor, or the only one. */
  readonly member?: string | undefined
  readonly quant?: QuantDescription | undefined
}

export type TensorDescription<S extends string = string> =
  | TensorFields<S>
  | Exclude<NumberValue, string>
  | NestedList
  | NumericArray

export type MetadataDescription<S extends string = string> =
  | NumberValue
  | string
  | NestedList
  | NumericArray
  | null
  | {
      readonly value?: NumberValue | string | NestedList | NumericArray | undefined
      readonly dtype?: string | number | undefined
      readonly shape?: readonly Dimension<S>[] | undefined
    }
  | { readonly bitset: string | readonly (0 | 1 | boolean)[] }
  | (ArrayFile & { readonly dtype?: string | number | undefined; readonly shape?: readonly Dimension<S>[] | undefined })

/** A model as a program, JSON or YAML describes it. */
export interface ModelDescription<S extends string = string> {
  readonly $schema?: string | undefined
  /** null: to be filled in. */
  readonly sizevars?: Readonly<Record<S, SizeValue | null>> | undefined
  readonly metadata?: Readonly<Record<string, MetadataDescription<NoInfer<S>>>> | undefined
  readonly tensors?: Readonly<Record<string, TensorDescription<NoInfer<S>>>> | undefined
}

/** Returns the description unchanged, with its types checked: a shape that names an undeclared size variable does not compile. */
export function defineModel<const S extends string = never>(description: ModelDescription<S>): ModelDescription<S> {
  return description
}
