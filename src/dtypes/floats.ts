// The floats of 64, 32 and 16 bits. f16 is IEEE half precision; bf16 is the upper half of an f32. Between these two and f32, compiled
// kernels go ahead where there are any, and the code here does what they leave.
import { narrowBrains, narrowHalves, widenBrains, widenHalves } from '../kernels/numbers-convert.js'
import { throughF32, viaOddF32 } from './blocks.js'
import type { Codec, DType, ValueSet } from './dtype.js'
import { infinityBits, narrowMagnitude } from './float-rounding.js'
import { narrowNaNs, widenToF64 } from './nan-bits.js'
import { plainLayout } from './size.js'
import { bitsOf, fillView, readLittleEndian, requireBytes, viewOf, writeLittleEndian } from './views.js'

const dataView = (source: Uint8Array): DataView => new DataView(source.buffer, source.byteOffset, source.byteLength)

function float(
  id: string,
  bytes: number,
  codec: Codec,
  values: Pick<ValueSet, 'highest' | 'step' | 'precision'>,
): DType {
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

/** The f32 pattern of an f16 code. NaN payloads move to the top of the longer mantissa and stay as they are. */
function f16Bits(code: number): number {
  const sign = (code & 0x8000) << 16
  const magnitude = code & 0x7fff
  if (magnitude >= 0x7c00) return (sign | infinityBits | ((magnitude & 0x3ff) << 13)) >>> 0
  if (magnitude >= 0x400) return (sign | ((magnitude << 13) + 0x38000000)) >>> 0
  if (magnitude === 0) return sign >>> 0
  // A subnormal is magnitude * 2^-24; as an f32 it is normal, with its highest set bit taken away.
  const top = 31 - Math.clz32(magnitude)
  return (sign | ((top + 103) << 23) | ((magnitude << (23 - top)) & 0x7fffff)) >>> 0
}

let halfTable: Uint32Array | undefined

/** All 65536 patterns: 256 KiB, made when they are first needed. */
function f16Table(): Uint32Array {
  halfTable ??= Uint32Array.from({ length: 65536 }, (_, code) => f16Bits(code))
  return halfTable
}

function halfToF32(source: Uint8Array, target: Float32Array): void {
  requireBytes(source, 2 * target.length)
  const done = widenHalves(source, target)
  if (done === target.length) return
  const codes = viewOf(Uint16Array, source.subarray(2 * done), target.length - done)
  const bits = bitsOf(target.subarray(done))
  // A table of all of them is twice as fast as computing each, but takes its time to make.
  if (bits.length < 8) for (let i = 0; i < bits.length; i++) bits[i] = f16Bits(codes[i]!)
  else {
    const table = f16Table()
    for (let i = 0; i < bits.length; i++) bits[i] = table[codes[i]!]!
  }
}

function halfFromF32(source: Float32Array, target: Uint8Array): number {
  requireBytes(target, 2 * source.length)
  const done = narrowHalves(source, target)
  const bits = bitsOf(source.subarray(done))
  fillView(Uint16Array, target.subarray(2 * done), bits.length, (codes) => {
    for (let i = 0; i < bits.length; i++) {
      const magnitude = bits[i]! & 0x7fffffff
      const sign = (bits[i]! >>> 16) & 0x8000
      if (magnitude < 0x47800000) codes[i] = sign | narrowMagnitude(magnitude, 10, 15)
      else if (magnitude <= infinityBits) codes[i] = sign | 0x7c00
      else codes[i] = sign | 0x7c00 | nanPayload((magnitude >>> 13) & 0x3ff, 0x200)
    }
  })
  return -1
}

/** A NaN whose payload was only in the bits that fall away must not turn into infinity. */
const nanPayload = (kept: number, quiet: number): number => (kept === 0 ? quiet : kept)

export const f16 = float(
  'f16',
  2,
  {
    toF32: halfToF32,
    toF64: throughF32(halfToF32, { elements: 1, bytes: 2 }),
    fromF32: halfFromF32,
    fromF64: viaOddF32(halfFromF32, { elements: 1, bytes: 2 }),
    element: (source, index) => patternValue(f16Bits(dataView(source).getUint16(index * 2, true))),
  },
  { highest: 65504, step: -24, precision: 11 },
)

function decodeBf16(source: Uint8Array, target: Float32Array): void {
  requireBytes(source, 2 * target.length)
  const done = widenBrains(source, target)
  const codes = viewOf(Uint16Array, source.subarray(2 * done), target.length - done)
  const bits = bitsOf(target.subarray(done))
  for (let i = 0; i < bits.length; i++) bits[i] = codes[i]! << 16
}

function encodeBf16(source: Float32Array, target: Uint8Array): number {
  requireBytes(target, 2 * source.length)
  const done = narrowBrains(source, target)
  const bits = bitsOf(source.subarray(done))
  fillView(Uint16Array, target.subarray(2 * done), bits.length, (codes) => {
    for (let i = 0; i < bits.length; i++) {
      const pattern = bits[i]!
      if ((pattern & 0x7fffffff) > infinityBits)
        codes[i] = ((pattern >>> 16) & 0xff80) | nanPayload((pattern >>> 16) & 0x7f, 0x40)
      else codes[i] = (pattern + 0x7fff + ((pattern >>> 16) & 1)) >>> 16
    }
  })
  return -1
}

export const bf16 = float(
  'bf16',
  2,
  {
    toF32: decodeBf16,
    toF64: throughF32(decodeBf16, { elements: 1, bytes: 2 }),
    fromF32: encodeBf16,
    fromF64: viaOddF32(encodeBf16, { elements: 1, bytes: 2 }),
    element: (source, index) => patternValue((dataView(source).getUint16(index * 2, true) << 16) >>> 0),
  },
  { highest: (2 - 2 ** -7) * 2 ** 127, step: -133, precision: 8 },
)

function patternValue(bits: number): number {
  return new Float32Array(Uint32Array.of(bits).buffer)[0]!
}

export const floats: readonly DType[] = [f64, f32, f16, bf16]
