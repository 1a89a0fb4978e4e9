// Types of at most eight bits have so few codes that decoding is a table of f32 patterns, one per code.
import { type BitWidth, codeAt, groupOf, packers, unpackers } from './bit-packing.js'
import { inCodes, throughF32, viaOddF32 } from './blocks.js'
import type { Codec, DType } from './dtype.js'
import { flatByteLength } from './size.js'
import { bitsOf } from './views.js'

/** Turns values to codes, one per byte. Returns the index of the first value without a code, or -1. */
export type Encode<T> = (values: T, codes: Uint8Array) => number

export interface TableType extends Omit<DType, 'group' | 'byteLength' | 'codec'> {
  readonly width: BitWidth
  /** f32 bit patterns by code. */
  readonly table: Uint32Array
  /** Floats encode from f32 patterns, everything else from numbers. */
  readonly encode: { readonly f32: Encode<Uint32Array> } | { readonly f64: Encode<Float64Array> }
}

export function tableType(type: TableType): DType {
  const { width, table, encode, ...rest } = type
  const group = groupOf(width)
  const unpack = unpackers[width]
  const pack = packers[width]
  const toF32: Codec['toF32'] = (source, target) => unpack(source, table, bitsOf(target))
  const values = new Float32Array(table.buffer)
  const codec: Codec = {
    toF32,
    toF64: throughF32(toF32, group),
    element: (source, index) => values[codeAt(source, index, width)]!,
    ...encoders(encode, pack, group),
  }
  return { ...rest, group, byteLength: flatByteLength(group), codec }
}

function encoders(
  encode: TableType['encode'],
  pack: (codes: Uint8Array, target: Uint8Array) => void,
  group: DType['group'],
): Pick<Codec, 'fromF64' | 'fromF32'> {
  if ('f64' in encode) return { fromF64: inCodes(encode.f64, pack, group) }
  const fromF32 = inCodes((run: Float32Array, codes) => encode.f32(bitsOf(run), codes), pack, group)
  return { fromF32, fromF64: viaOddF32(fromF32, group) }
}
