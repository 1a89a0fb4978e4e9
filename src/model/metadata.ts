// Typed metadata. Formats differ in the types of values; the model keeps the type that the file states, so that a round trip loses nothing
// and a conversion can name what it must change. Keys are in a Map: `__proto__` is an ordinary key.
import type { DType } from '../dtypes/dtype.js'

export type IntegerType =
  | 'u8'
  | 'u16'
  | 'u32'
  | 'u64'
  | 'i8'
  | 'i16'
  | 'i32'
  | 'i64'
  | 'u4'
  | 'u2'
  | 'u1'
  | 'i4'
  | 'i2'
  | 'i1'
  | 't2'
  | 't1'
export type FloatType = 'f16' | 'bf16' | 'f8_e5m2' | 'f32' | 'f64'

/** A list whose items are decoded on demand: opening a file must not decode a vocabulary of 150,000 tokens. */
export interface MetaList {
  readonly type: 'array'
  /** The type that all items share; `mixed` if the format allows any. */
  readonly item: MetaValue['type'] | 'mixed'
  readonly length: number
  /** All items, decoded now. */
  values(): readonly MetaValue[]
  /** The items from `start` up to `end`, without decoding the others. Absent if that would save nothing. */
  slice?(start: number, end: number): readonly MetaValue[]
}

/** A metadata value with the type that the file states. */
export type MetaValue =
  | { readonly type: IntegerType; readonly value: number | bigint }
  | {
      readonly type: FloatType
      readonly value: number /** set where the exact bits matter, e.g. a NaN */
      readonly bits?: bigint
    }
  | { readonly type: 'bool'; readonly value: boolean }
  | {
      readonly type: 'str'
      readonly value: string /** set when the bytes are not UTF-8; `value` is then for showing only */
      readonly bytes?: Uint8Array
    }
  | { readonly type: 'bytes'; readonly value: Uint8Array }
  | { readonly type: 'bitset'; readonly bits: number; readonly value: Uint8Array }
  | {
      readonly type: 'ndarray'
      readonly dtype: DType
      readonly shape: readonly number[] /** set where an array without elements has dimensions that no number holds */
      readonly exactShape?: readonly bigint[] | undefined
      readonly value: Uint8Array
    }
  | { readonly type: 'json'; readonly value: JsonValue }
  | { readonly type: 'null' }
  | MetaList

/** Anything that JSON can say. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** In file order. */
export type Metadata = ReadonlyMap<string, MetaValue>

export const text = (value: string): MetaValue => ({ type: 'str', value })

export function listOf(item: MetaList['item'], values: readonly MetaValue[]): MetaList {
  return { type: 'array', item, length: values.length, values: () => values }
}

/** The metadata key under which a container carries what it has no place for. */
export const stowageKey = 'tare.stowage'
