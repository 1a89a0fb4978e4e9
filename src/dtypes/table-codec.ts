// The codec of types with at most eight bits: decoding and encoding by tables.
import { bitsOf, requireBytes } from '../bytes/views.js'
import { codesToF32 } from '../kernels/numbers/codes.js'
import { type BitWidth, codeAt, groupOf, type Pack, packers } from '../kernels/numbers/plain/bit-packing.js'
import { type Codec, type DType, flatByteLength } from './dtype.js'
import { inCodes, throughF32, viaOddF32 } from './via-f32.js'

/** Turns values to codes, one per byte. Returns the index of the first value without a code, or -1. */
type Encode<T> = (values: T, codes: Uint8Array) => number

export interface TableType<Id extends string> extends Omit<DType<Id>, 'group' | 'byteLength' | 'codec'> {
  readonly width: BitWidth
  /** The f32 bit pattern of each code, made at the first use. */
  readonly patterns: () => Uint32Array
  /** Patterns for `Codec.toF32Bits`, where `patterns` has the same NaN for several codes. */
  readonly nanPatterns?: (() => Uint32Array) | undefined
  /** Floats encode from f32 patterns, everything else from numbers. */
  readonly encode: { readonly f32: Encode<Uint32Array> } | { readonly f64: Encode<Float64Array> }
}

export function tableType<Id extends string>(type: TableType<Id>): DType<Id> {
  const { width, patterns, nanPatterns, encode, ...rest } = type
  const group = groupOf(width)
  const toF32 = codesToF32(width, patterns)
  let values: Float32Array | undefined
  const codec: Codec = {
    toF32,
    ...(nanPatterns && { toF32Bits: codesToF32(width, nanPatterns) }),
    toF64: throughF32(toF32, group),
    element(source, index) {
      values ??= new Float32Array(patterns().buffer)
      return values[codeAt(source, index, width)]!
    },
    ...encoders(encode, packers[width], group),
  }
  return { ...rest, group, byteLength: flatByteLength(group), codec }
}

function encoders(
  encode: TableType<string>['encode'],
  pack: Pack,
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
