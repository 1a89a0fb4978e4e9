// Types of at most eight bits have so few codes that decoding is a table of f32 patterns, one per code. The compiled kernel looks up all
// codes of a byte together, and the unpackers do what it leaves.
import { byteTable, lookUp } from '../kernels/numbers-convert.js'
import { type BitWidth, codeAt, groupOf, packers, type Unpack, unpackers } from './bit-packing.js'
import { inCodes, throughF32, viaOddF32 } from './blocks.js'
import type { Codec, DType } from './dtype.js'
import { flatByteLength } from './size.js'
import { bitsOf, requireBytes } from './views.js'

/** Turns values to codes, one per byte. Returns the index of the first value without a code, or -1. */
export type Encode<T> = (values: T, codes: Uint8Array) => number

export interface TableType extends Omit<DType, 'group' | 'byteLength' | 'codec'> {
  readonly width: BitWidth
  /** f32 bit patterns by code. */
  readonly table: Uint32Array
  /** Another table where that one has the same NaN for several codes: see `Codec.toF32Bits`. */
  readonly bitTable?: Uint32Array | undefined
  /** Floats encode from f32 patterns, everything else from numbers. */
  readonly encode: { readonly f32: Encode<Uint32Array> } | { readonly f64: Encode<Float64Array> }
}

export function tableType(type: TableType): DType {
  const { width, table, bitTable, encode, ...rest } = type
  const group = groupOf(width)
  const unpack = byBytes(width, table)
  const pack = packers[width]
  const toF32: Codec['toF32'] = (source, target) => unpack(source, table, bitsOf(target))
  const values = new Float32Array(table.buffer)
  const unpackBits = bitTable && byBytes(width, bitTable)
  const codec: Codec = {
    toF32,
    ...(unpackBits && { toF32Bits: (source, target) => unpackBits(source, bitTable, bitsOf(target)) }),
    toF64: throughF32(toF32, group),
    element: (source, index) => values[codeAt(source, index, width)]!,
    ...encoders(encode, pack, group),
  }
  return { ...rest, group, byteLength: flatByteLength(group), codec }
}

function byBytes(width: BitWidth, table: Uint32Array): Unpack {
  let bytes: Uint32Array | undefined
  return (source, _, target) => {
    requireBytes(source, Math.ceil((target.length * width) / 8))
    bytes ??= byteTable(width, table)
    const done = lookUp(width, bytes, source, target)
    if (done < target.length) unpackers[width](source.subarray((done * width) / 8), table, target.subarray(done))
  }
}

function encoders(
  encode: TableType['encode'],
  pack: (codes: Uint8Array, target: Uint8Array) => void,
  group: DType['group'],
): Pick<Codec, 'fromF64' | 'fromF32'> {
  if ('f64' in encode) return { fromF64: inCodes(encode.f64, pack, group) }
  const inBytes: Required<Codec>['fromF32'] = (values, codes) => {
    requireBytes(codes, values.length)
    return encode.f32(bitsOf(values), codes)
  }
  const fromF32 = group.bytes === group.elements ? inBytes : inCodes(inBytes, pack, group)
  return { fromF32, fromF64: viaOddF32(fromF32, group) }
}
