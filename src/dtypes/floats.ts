// The floats of 64, 32 and 16 bits.
import { bitsOf, fillView, readLittleEndian, viewOf, writeLittleEndian } from '../bytes/views.js'
import { bf16ToF32, f16ToF32, f32ToBf16, f32ToF16 } from '../kernels/numbers/convert.js'
import { narrowNaNs, widenToF64 } from '../kernels/numbers/float-bits.js'
import { f16Bits } from '../kernels/numbers/plain/convert.js'
import { type Codec, type DType, plainLayout, type ValueSet } from './dtype.js'
import { throughF32, viaOddF32 } from './via-f32.js'

const dataView = (source: Uint8Array): DataView => new DataView(source.buffer, source.byteOffset, source.byteLength)

function float<Id extends string>(
  id: Id,
  bytes: number,
  codec: Codec,
  values: Pick<ValueSet, 'highest' | 'step' | 'precision'>,
): DType<Id> {
  const special = { negativeZero: true, infinity: true, nan: true }
  return { id, kind: 'float', ...plainLayout(bytes), codec, values: { lowest: -values.highest, ...values, ...special } }
}

export const f64 = float(
  'f64',
  8,
  {
    toF32(source, target) {
      const values = viewOf(Float64Array, source, target.length)
      target.set(values)
      narrowNaNs(values, bitsOf(target))
    },
    toF64: readLittleEndian,
    fromF64(source, target) {
      writeLittleEndian(source, target)
      return -1
    },
    fromF32(source, target) {
      fillView(Float64Array, target, source.length, (view) => widenToF64(source, view))
      return -1
    },
    element: (source, index) => dataView(source).getFloat64(index * 8, true),
  },
  { highest: Number.MAX_VALUE, step: -1074, precision: 53 },
)

export const f32 = float(
  'f32',
  4,
  {
    toF32: readLittleEndian,
    toF64: (source, target) => widenToF64(viewOf(Float32Array, source, target.length), target),
    fromF64(source, target) {
      fillView(Float32Array, target, source.length, (view) => view.set(source))
      return -1
    },
    fromF32(source, target) {
      writeLittleEndian(source, target)
      return -1
    },
    element: (source, index) => dataView(source).getFloat32(index * 4, true),
  },
  { highest: (2 - 2 ** -23) * 2 ** 127, step: -149, precision: 24 },
)

/** f16 and bf16 convert by way of f32. */
function shortCodec(
  toF32: Codec['toF32'],
  encode: (source: Float32Array, target: Uint8Array) => void,
): Omit<Codec, 'element'> {
  const group = { elements: 1, bytes: 2 }
  const fromF32: Required<Codec>['fromF32'] = (source, target) => {
    encode(source, target)
    return -1
  }
  return { toF32, toF64: throughF32(toF32, group), fromF32, fromF64: viaOddF32(fromF32, group) }
}

export const f16 = float(
  'f16',
  2,
  {
    ...shortCodec(f16ToF32, f32ToF16),
    element: (source, index) => patternValue(f16Bits(dataView(source).getUint16(index * 2, true))),
  },
  { highest: 65504, step: -24, precision: 11 },
)

export const bf16 = float(
  'bf16',
  2,
  {
    ...shortCodec(bf16ToF32, f32ToBf16),
    element: (source, index) => patternValue((dataView(source).getUint16(index * 2, true) << 16) >>> 0),
  },
  { highest: (2 - 2 ** -7) * 2 ** 127, step: -133, precision: 8 },
)

function patternValue(bits: number): number {
  return new Float32Array(Uint32Array.of(bits).buffer)[0]!
}

export const floats = [f64, f32, f16, bf16] as const
