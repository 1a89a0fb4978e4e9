// Integers of 8 to 64 bits. Up to 32 bits they are converted by the engine's typed-array copy, which rounds once. 64-bit integers are split
// into a high and a low word, since going through f64 would round twice.

import { fillView, requireBytes, type ViewType, viewOf } from '../bytes/views.js'
import { codesToF32 } from '../kernels/numbers/codes.js'
import { type Codec, type DType, plainLayout, type Scalar } from './dtype.js'
import { throughF32 } from './via-f32.js'

type SmallInts = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array

function integer<Id extends string>(id: Id, bits: number, codec: Codec): DType<Id> {
  const signed = id.startsWith('i')
  const values = signed
    ? { lowest: -(2 ** (bits - 1)), highest: 2 ** (bits - 1) - 1, step: 0, precision: bits - 1 }
    : { lowest: 0, highest: 2 ** bits - 1, step: 0, precision: bits }
  return { id, kind: signed ? 'int' : 'uint', ...plainLayout(bits / 8), codec, values }
}

function smallInteger<T extends SmallInts, Id extends string>(
  id: Id,
  type: ViewType<T>,
  get: (view: DataView, offset: number) => number,
): DType<Id> {
  const bytes = type.BYTES_PER_ELEMENT
  const dtype: DType<Id> = integer(id, bytes * 8, {
    toF32: (source, target) => target.set(viewOf(type, source, target.length)),
    toF64: (source, target) => target.set(viewOf(type, source, target.length)),
    fromF64(source, target) {
      const bad = firstUnfit(source, dtype.values!.lowest, dtype.values!.highest)
      if (bad >= 0) return bad
      fillView(type, target, source.length, (view) => view.set(source))
      return -1
    },
    element: (source, index) => elementBy(get, source, index * bytes),
  })
  return dtype
}

/** The index of the first value that is not whole or not in [lowest, highest], or -1. NaN fails every comparison. */
export function firstUnfit(values: Float64Array, lowest: number, highest: number): number {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!
    if (!(value >= lowest && value <= highest && Math.floor(value) === value)) return i
  }
  return -1
}

function elementBy<S extends Scalar>(
  get: (view: DataView, offset: number) => S,
  source: Uint8Array,
  offset: number,
): S {
  return get(new DataView(source.buffer, source.byteOffset, source.byteLength), offset)
}

const twoTo32 = 2 ** 32

/**
 * A 64-bit integer as an f64 that rounds on to f32 or less as the integer itself would. Beyond 2^53 the low twelve bits cannot all be
 * kept; what matters of them is whether any is set, so one bit in their middle stands for them.
 */
function stickyF64(high: number, low: number): number {
  const isExact = high >= -0x200000 && high < 0x200000
  return high * twoTo32 + (isExact || (low & 4095) === 0 ? low : ((low & -4096) | 2048) >>> 0)
}

/** 64-bit integers as f32, or as f64 for a later rounding to fewer than 52 bits, which then is the only one. */
function toSticky(signed: boolean, source: Uint8Array, target: Float32Array | Float64Array): void {
  const words = viewOf(Uint32Array, source, target.length * 2)
  for (let i = 0; i < target.length; i++) {
    const high = words[2 * i + 1]!
    target[i] = stickyF64(signed ? high | 0 : high, words[2 * i]!)
  }
}

function wideInteger<Id extends 'i64' | 'u64'>(id: Id, get: (view: DataView, offset: number) => bigint): DType<Id> {
  const signed = id === 'i64'
  const [lowest, limit] = signed ? [-(2 ** 63), 2 ** 63] : [0, 2 ** 64]
  return integer(id, 64, {
    toF32: (source, target) => toSticky(signed, source, target),
    toF64(source, target) {
      const words = viewOf(Uint32Array, source, target.length * 2)
      for (let i = 0; i < target.length; i++) {
        const high = words[2 * i + 1]!
        target[i] = (signed ? high | 0 : high) * twoTo32 + words[2 * i]!
      }
    },
    fromF64(source, target) {
      return fillView(Uint32Array, target, source.length * 2, (words) => {
        for (let i = 0; i < source.length; i++) {
          const value = source[i]!
          if (!(value >= lowest && value < limit && Math.floor(value) === value)) return i
          const high = Math.floor(value / twoTo32)
          words[2 * i] = value - high * twoTo32
          words[2 * i + 1] = high
        }
        return -1
      })
    },
    element: (source, index) => elementBy(get, source, index * 8),
  })
}

export const i8 = smallInteger('i8', Int8Array, (view, at) => view.getInt8(at))
export const u8 = smallInteger('u8', Uint8Array, (view, at) => view.getUint8(at))
export const i16 = smallInteger('i16', Int16Array, (view, at) => view.getInt16(at, true))
export const u16 = smallInteger('u16', Uint16Array, (view, at) => view.getUint16(at, true))
export const i32 = smallInteger('i32', Int32Array, (view, at) => view.getInt32(at, true))
export const u32 = smallInteger('u32', Uint32Array, (view, at) => view.getUint32(at, true))
export const i64 = wideInteger('i64', (view, at) => view.getBigInt64(at, true))
export const u64 = wideInteger('u64', (view, at) => view.getBigUint64(at, true))

/** i64 and u64 for a cast to a float of fewer than 52 significant bits. Undefined for every other type. */
export function stickyDecoder(dtype: DType): Codec['toF64'] | undefined {
  if (dtype !== i64 && dtype !== u64) return undefined
  return (source, target) => toSticky(dtype === i64, source, target)
}

export const integers = [i64, i32, i16, i8, u64, u32, u16, u8] as const

// A bool is one byte; writers use 0 and 1, and readers take every other byte for true as well. A bitset element, in OINF, is one byte
// that holds eight flags: it is shown and converted as the number 0 to 255.

const one = 0x3f800000
const boolToF32 = codesToF32(8, () => new Uint32Array(256).fill(one, 1))

export const bool: DType<'bool'> = {
  id: 'bool',
  kind: 'bool',
  hasStrayCodes: true,
  ...plainLayout(1),
  codec: {
    toF32: boolToF32,
    toF64: throughF32(boolToF32, { elements: 1, bytes: 1 }),
    fromF64(source, target) {
      requireBytes(target, source.length)
      const bad = firstUnfit(source, 0, 1)
      if (bad < 0) target.set(source)
      return bad
    },
    element(source, index) {
      requireBytes(source, index + 1)
      return source[index] !== 0
    },
  },
  values: { lowest: 0, highest: 1, step: 0, precision: 1 },
}

export const bitset: DType<'bitset'> = { ...u8, id: 'bitset' }

export const booleans = [bool, bitset] as const
