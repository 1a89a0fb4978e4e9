// The thirteen types of metadata values. A value in a file is a u32 type and the value itself: numbers little-endian, a bool one byte, a
// string its length and bytes, an array the type of its items, their count, and the items one after the other.
import type { MetaValue } from '../../model/index.js'

type Accessor = `${'Uint' | 'Int'}${8 | 16 | 32}` | `Float${32 | 64}` | `Big${'Uint' | 'Int'}64`

export interface ValueType {
  readonly number: number
  /** As the model calls it. */
  readonly type: MetaValue['type']
  /** Bytes of one value; 0 for strings and arrays, which say it themselves. */
  readonly size: number
  /** How a DataView calls it. */
  readonly accessor?: Accessor | undefined
}

const rows: readonly (readonly [type: MetaValue['type'], size: number, accessor?: Accessor])[] = [
  ['u8', 1, 'Uint8'],
  ['i8', 1, 'Int8'],
  ['u16', 2, 'Uint16'],
  ['i16', 2, 'Int16'],
  ['u32', 4, 'Uint32'],
  ['i32', 4, 'Int32'],
  ['f32', 4, 'Float32'],
  ['bool', 1, 'Uint8'],
  ['str', 0],
  ['array', 0],
  ['u64', 8, 'BigUint64'],
  ['i64', 8, 'BigInt64'],
  ['f64', 8, 'Float64'],
]

export const valueTypes: readonly ValueType[] = rows.map(([type, size, accessor], number) => ({
  number,
  type,
  size,
  accessor,
}))

const byType = new Map<string, ValueType>(valueTypes.map((each) => [each.type, each]))

/** Undefined for what GGUF metadata cannot say. */
export const valueTypeOf = (type: string): ValueType | undefined => byType.get(type)

export const stringType = byType.get('str')!
export const arrayType = byType.get('array')!
export const boolType = byType.get('bool')!

/** A number or a bool. A NaN has bits that a number does not keep. */
export function readScalar(valueType: ValueType, view: DataView, at: number, littleEndian: boolean): MetaValue {
  const { type, size, accessor } = valueType
  const value = view[`get${accessor!}`](at, littleEndian)
  if (type === 'bool') return { type, value: value !== 0 }
  if (!Number.isNaN(value)) return { type, value } as MetaValue
  const bits = size === 4 ? BigInt(view.getUint32(at, littleEndian)) : view.getBigUint64(at, littleEndian)
  return { type, value, bits } as MetaValue
}

/** The same in little-endian order. */
export function writeScalar({ accessor }: ValueType, view: DataView, at: number, value: MetaValue): void {
  if (!('value' in value)) return
  if (value.type === 'f32' && value.bits !== undefined) view.setUint32(at, Number(value.bits), true)
  else if (value.type === 'f64' && value.bits !== undefined) view.setBigUint64(at, value.bits, true)
  else if (accessor === 'BigUint64' || accessor === 'BigInt64')
    view[`set${accessor}`](at, BigInt(value.value as number | bigint), true)
  else view[`set${accessor!}`](at, Number(value.value), true)
}
