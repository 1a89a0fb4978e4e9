// Numbers of a description: a single one, nested lists, or a typed array, flattened in row-major order.
import { bool, type DType, f16, f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 } from '../dtypes/index.js'
import type { Code } from '../errors/index.js'
import { packCodes } from './codes.js'
import { describe, type Field, fail } from './field.js'
import { Float } from './float.js'

export interface Values {
  readonly shape: readonly number[]
  readonly items: ArrayLike<number | bigint>
  /** `none` when there are no items. */
  readonly kind: 'bool' | 'int' | 'float' | 'none'
  /** Set if the values came with a type. */
  readonly dtype?: DType
}

/** Deeper than any tensor; also stops lists that contain themselves. */
const maxRank = 64
/** Stand for the floats that JSON cannot write. */
export const specials: ReadonlyMap<unknown, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
])

const typedArrays: ReadonlyMap<string, DType> = new Map<string, DType>([
  ['Int8Array', i8],
  ['Uint8Array', u8],
  ['Uint8ClampedArray', u8],
  ['Int16Array', i16],
  ['Uint16Array', u16],
  ['Int32Array', i32],
  ['Uint32Array', u32],
  ['BigInt64Array', i64],
  ['BigUint64Array', u64],
  ['Float16Array', f16],
  ['Float32Array', f32],
  ['Float64Array', f64],
])

/** A number, list or typed array; anything else is an error. */
export function readValues(field: Field): Values {
  const { value } = field
  if (ArrayBuffer.isView(value)) return readTypedArray(field, value)
  const shape = outline(value)
  if (shape.length > maxRank) fail(field, packCodes.ragged, `lists are nested more than ${maxRank} deep`)
  const items: (number | bigint)[] = []
  const seen = { bool: 0, int: 0, float: 0 }
  const refuse = (code: Code, message: string, index = items.length): never =>
    failAt(field, shape, index, code, message)
  const walk = (inner: unknown, depth: number): void => {
    if (depth === shape.length) {
      seen[pushItem(inner, items) ?? refuse(codeFor(inner, depth), `expected a number, not ${describe(inner)}`)]++
      if (seen.bool > 0 && seen.bool < items.length)
        refuse(packCodes.mixed, 'the list mixes booleans and numbers', items.length - 1)
    } else {
      if (!Array.isArray(inner) || inner.length !== shape[depth]) {
        const found = Array.isArray(inner) ? `one of ${inner.length}` : describe(inner)
        const rows = shape.slice(depth).reduce((product, dim) => product * dim, 1)
        const row = rows === 0 ? 0 : items.length / rows
        failAt(field, shape.slice(0, depth), row, packCodes.ragged, `expected a list of ${shape[depth]}, not ${found}`)
      }
      for (const each of inner as unknown[]) walk(each, depth + 1)
    }
  }
  walk(value, 0)
  const kind = items.length === 0 ? 'none' : seen.bool > 0 ? 'bool' : seen.float > 0 ? 'float' : 'int'
  return { shape, items, kind }
}

/** The code for a non-number in the place of a number. */
function codeFor(value: unknown, depth: number): Code {
  if (Array.isArray(value)) return packCodes.ragged
  return depth > 0 ? packCodes.mixed : packCodes['field-type']
}

/** The shape suggested by the first items. */
function outline(value: unknown): number[] {
  const shape: number[] = []
  for (let inner = value; Array.isArray(inner) && shape.length <= maxRank; inner = inner[0]) shape.push(inner.length)
  return shape
}

function pushItem(value: unknown, items: (number | bigint)[]): 'bool' | 'int' | 'float' | undefined {
  if (typeof value === 'number') {
    items.push(value)
    return Number.isInteger(value) ? 'int' : 'float'
  }
  if (typeof value === 'boolean') {
    items.push(value ? 1 : 0)
    return 'bool'
  }
  if (typeof value === 'bigint') {
    items.push(value)
    return 'int'
  }
  const number = value instanceof Float ? value.value : specials.get(value)
  if (number === undefined) return undefined
  items.push(number)
  return 'float'
}

function readTypedArray(field: Field, value: ArrayBufferView): Values {
  const dtype = typedArrays.get(value.constructor.name)
  if (!dtype) return fail(field, packCodes['field-type'], `${describe(value)} holds no numbers that tare knows`)
  const items = value as unknown as ArrayLike<number | bigint>
  const kind = dtype.kind === 'float' ? 'float' : 'int'
  return { shape: [items.length], items, kind: items.length === 0 ? 'none' : kind, dtype }
}

/** An error about one item, identified by its position: `data[3][0]`. */
export function failAt(
  field: Omit<Field, 'value'>,
  shape: readonly number[],
  index: number,
  code: Code,
  message: string,
): never {
  let place = ''
  let rest = index
  for (const dim of shape.toReversed()) {
    place = `[${dim === 0 ? 0 : rest % dim}]${place}`
    rest = dim === 0 ? 0 : Math.floor(rest / dim)
  }
  return fail({ ...field, path: `${field.path}${place}` }, code, message)
}

/** The type that NumPy gives a list: i64, f64 or bool. */
export function defaultType(field: Field, values: Values): DType {
  if (values.dtype) return values.dtype
  if (values.kind === 'bool') return bool
  if (values.kind !== 'int') return f64
  return smallestInteger(field, values, [i64, u64])
}

/** The type that metadata stores a list as: the smallest signed type that holds all items, f32, or bool. */
export function smallestType(field: Field, values: Values): DType {
  if (values.dtype) return values.dtype
  if (values.kind === 'bool') return bool
  if (values.kind !== 'int') return f32
  return smallestInteger(field, values, [i8, i16, i32, i64, u64])
}

/** The same for a single number: unsigned unless it is negative. */
export function smallestScalarType(field: Field, values: Values): DType {
  if (values.kind !== 'int') return smallestType(field, values)
  return smallestInteger(field, values, values.items[0]! >= 0 ? [u8, u16, u32, u64] : [i8, i16, i32, i64])
}

function smallestInteger(field: Field, { items, shape }: Values, candidates: readonly DType[]): DType {
  let [lowest, highest] = [0, 0]
  for (let i = 0; i < items.length; i++) {
    if (items[i]! < items[lowest]!) lowest = i
    if (items[i]! > items[highest]!) highest = i
  }
  const found = candidates.find((dtype) => {
    const [min, max] = integerRange(dtype)
    return items[lowest]! >= min && items[highest]! <= max
  })
  if (found) return found
  const isTooHigh = items[highest]! > 2n ** 64n - 1n
  const isTooLow = items[lowest]! < -(2n ** 63n)
  const culprit = isTooHigh ? highest : lowest
  const message =
    isTooHigh || isTooLow
      ? `${items[culprit]} is beyond every integer type`
      : `no integer type holds ${items[lowest]} and ${items[highest]} both`
  return failAt(field, shape, culprit, packCodes['value-range'], message)
}

/** As bigints: numbers would round the limits of 64-bit types. */
export function integerRange(dtype: DType): readonly [lowest: bigint, highest: bigint] {
  const bits = BigInt((dtype.group.bytes * 8) / dtype.group.elements)
  return dtype.kind === 'int' ? [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n] : [0n, 2n ** bits - 1n]
}
