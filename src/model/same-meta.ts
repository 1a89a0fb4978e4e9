// Compares metadata values. Formats have different types, so the same value can be u32, i64 or JSON: that is a difference of type only.

import { compareBytes } from '../bytes/index.js'
import type { Closeness } from '../kernels/numbers/compare.js'
import type { JsonValue, MetaValue } from './metadata.js'
import { formatDims } from './model.js'

/** `close`: another number, within the tolerance. A list takes the worst result of its items. */
export type Sameness = 'same' | 'type' | 'close' | 'value'

const badness: readonly Sameness[] = ['same', 'type', 'close', 'value']
const worse = (a: Sameness, b: Sameness): Sameness => (badness.indexOf(a) > badness.indexOf(b) ? a : b)

export interface MetaSameness {
  readonly sameness: Sameness
  /** For lists, the index of the first item that differs. */
  readonly first?: number
}

export function compareMeta(a: MetaValue, b: MetaValue, close?: Closeness): MetaSameness {
  const [left, right] = [listOf(a), listOf(b)]
  if (left && right) return compareLists(left, right, a.type === b.type ? 'same' : 'type', close)
  return { sameness: a.type === b.type ? sameType(a, b, close) : otherType(plain(a), plain(b), close) }
}

function listOf(value: MetaValue): readonly MetaValue[] | undefined {
  if (value.type === 'array') return value.values()
  if (value.type !== 'json' || !Array.isArray(value.value)) return undefined
  return value.value.map((item: JsonValue) => ({ type: 'json', value: item }))
}

function compareLists(
  a: readonly MetaValue[],
  b: readonly MetaValue[],
  atBest: Sameness,
  close?: Closeness,
): MetaSameness {
  let sameness = atBest
  let first: number | undefined
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const item = compareMeta(a[i]!, b[i]!, close).sameness
    if (item === 'value') return { sameness: 'value', first: first ?? i }
    if (item === 'close') first ??= i
    sameness = worse(sameness, item)
  }
  if (a.length !== b.length) return { sameness: 'value', first: first ?? shared }
  return first === undefined ? { sameness } : { sameness, first }
}

function sameType(a: MetaValue, b: MetaValue, close?: Closeness): Sameness {
  const isSame = (same: boolean): Sameness => (same ? 'same' : 'value')
  switch (a.type) {
    case 'null':
      return 'same'
    case 'str': {
      const other = b as typeof a
      return isSame(
        a.bytes && other.bytes
          ? isSameBytes(a.bytes, other.bytes)
          : !a.bytes === !other.bytes && a.value === other.value,
      )
    }
    case 'bytes':
      return isSame(isSameBytes(a.value, (b as typeof a).value))
    case 'bitset':
      return isSame(a.bits === (b as typeof a).bits && isSameBytes(a.value, (b as typeof a).value))
    case 'ndarray': {
      const other = b as typeof a
      const isAlike = a.dtype.id === other.dtype.id && formatDims(a) === formatDims(other)
      return isSame(isAlike && isSameBytes(a.value, other.value))
    }
    case 'json':
      return sameJson(a.value, (b as typeof a).value, close)
    case 'bool':
      return isSame(a.value === (b as typeof a).value)
    case 'array':
      return 'value' // lists were compared before
    default: {
      const other = b as typeof a
      const [bits, otherBits] = ['bits' in a ? a.bits : undefined, 'bits' in other ? other.bits : undefined]
      return sameNumber(a.value, other.value, close, bits === otherBits)
    }
  }
}

const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean => compareBytes(a, b) === 0

/** A number equals itself in every type; `hasSameBits` is about NaN. */
function sameNumber(a: number | bigint, b: number | bigint, close?: Closeness, hasSameBits = true): Sameness {
  // biome-ignore lint/suspicious/noDoubleEquals: between a bigint and a number this compares what they stand for, exactly
  if (a == b) return 'same'
  const [x, y] = [Number(a), Number(b)]
  if (Number.isNaN(x) && Number.isNaN(y)) return hasSameBits ? 'same' : 'value'
  const isWithin = close && Math.abs(x - y) <= close.abs + close.rel * Math.max(Math.abs(x), Math.abs(y))
  return isWithin && Number.isFinite(x) && Number.isFinite(y) ? 'close' : 'value'
}

type Plain = JsonValue | bigint | undefined

/** The value without its type; undefined if it has no meaning in another one. */
function plain(value: MetaValue): Plain {
  switch (value.type) {
    case 'null':
      return null
    case 'str':
      return value.bytes ? undefined : value.value
    case 'bytes':
    case 'bitset':
    case 'ndarray':
    case 'array':
      return undefined
    default:
      return value.value
  }
}

function otherType(a: Plain, b: Plain, close?: Closeness): Sameness {
  if (a === undefined || b === undefined) return 'value'
  const isNumber = (value: Plain): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'
  const sameness =
    isNumber(a) && isNumber(b)
      ? sameNumber(a, b, close)
      : isNumber(a) || isNumber(b)
        ? 'value'
        : sameJson(a as JsonValue, b as JsonValue, close)
  return sameness === 'same' ? 'type' : sameness
}

/** The order of an object's keys does not matter. */
export function sameJson(a: JsonValue, b: JsonValue, close?: Closeness): Sameness {
  if (typeof a === 'number' && typeof b === 'number') return sameNumber(a, b, close)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b ? 'same' : 'value'
  if (Array.isArray(a) !== Array.isArray(b)) return 'value'
  const [left, right] = [new Map(Object.entries(a)), new Map(Object.entries(b))]
  if (left.size !== right.size) return 'value'
  let sameness: Sameness = 'same'
  for (const [key, value] of left) {
    const other = right.get(key)
    if (other === undefined) return 'value'
    sameness = worse(sameness, sameJson(value, other, close))
    if (sameness === 'value') return sameness
  }
  return sameness
}
