// The thirteen types of metadata values. A value in a file is a u32 type and the value itself: numbers little-endian, a bool one byte, a
// string its length and bytes, an array the type of its items, their count, and the items one after the other.
import type { MetaValue } from '../../model/index.js'

export interface ValueType {
  readonly number: number
  /** As the model calls it. */
  readonly type: MetaValue['type']
  /** Bytes of one value; 0 for strings and arrays, which say it themselves. */
  readonly size: number
}

const rows: readonly (readonly [MetaValue['type'], number])[] = [
  ['u8', 1],
  ['i8', 1],
  ['u16', 2],
  ['i16', 2],
  ['u32', 4],
  ['i32', 4],
  ['f32', 4],
  ['bool', 1],
  ['str', 0],
  ['array', 0],
  ['u64', 8],
  ['i64', 8],
  ['f64', 8],
]

export const valueTypes: readonly ValueType[] = rows.map(([type, size], number) => ({ number, type, size }))

const byType = new Map<string, ValueType>(valueTypes.map((each) => [each.type, each]))

/** Undefined for what GGUF metadata cannot say. */
export const valueTypeOf = (type: string): ValueType | undefined => byType.get(type)

export const stringType = byType.get('str')!
export const arrayType = byType.get('array')!
export const boolType = byType.get('bool')!
