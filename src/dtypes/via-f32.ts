// Codecs that go through f32 or through unpacked codes, in short runs, which stay in the nearest cache.
import { bitsOf } from '../bytes/views.js'
import { roundToOdd, widenToF64 } from '../kernels/numbers/float-bits.js'

/** Elements per run: a multiple of every packing, so that runs start at whole bytes. */
const runLength = 4096

/** `toF64` of a type whose every value is an f32. */
export function throughF32(
  decode: (source: Uint8Array, target: Float32Array) => void,
  group: { readonly elements: number; readonly bytes: number },
): (source: Uint8Array, target: Float64Array) => void {
  return (source, target) => {
    const run = new Float32Array(Math.min(runLength, target.length))
    for (let at = 0; at < target.length; at += runLength) {
      const part = run.subarray(0, Math.min(runLength, target.length - at))
      decode(source.subarray((at / group.elements) * group.bytes), part)
      widenToF64(part, target, at)
    }
  }
}

/** `fromF64` of a float type with at most 22 significant bits, by way of `fromF32`. `keepNaNs` overwrites the patterns of NaNs. */
export function viaOddF32(
  encode: (source: Float32Array, target: Uint8Array) => number,
  group: { readonly elements: number; readonly bytes: number },
  keepNaNs?: (source: Float64Array, bits: Uint32Array) => void,
): (source: Float64Array, target: Uint8Array) => number {
  return (source, target) => {
    const run = new Float32Array(Math.min(runLength, source.length))
    const bits = bitsOf(run)
    for (let at = 0; at < source.length; at += runLength) {
      const count = Math.min(runLength, source.length - at)
      const values = source.subarray(at, at + count)
      roundToOdd(values, bits)
      keepNaNs?.(values, bits)
      const bad = encode(run.subarray(0, count), target.subarray((at / group.elements) * group.bytes))
      if (bad >= 0) return at + bad
    }
    return -1
  }
}

/** Encodes to one code per byte, run by run, and packs each run. */
export function inCodes<T extends Float32Array | Float64Array>(
  encode: (values: T, codes: Uint8Array) => number,
  pack: (codes: Uint8Array, target: Uint8Array) => void,
  group: { readonly elements: number; readonly bytes: number },
): (source: T, target: Uint8Array) => number {
  return (source, target) => {
    const run = new Uint8Array(Math.min(runLength, source.length))
    for (let at = 0; at < source.length; at += runLength) {
      const count = Math.min(runLength, source.length - at)
      const codes = run.subarray(0, count)
      const bad = encode(source.subarray(at, at + count) as T, codes)
      if (bad >= 0) return at + bad
      pack(codes, target.subarray((at / group.elements) * group.bytes))
    }
    return -1
  }
}
