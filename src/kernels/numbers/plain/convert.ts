// f16 and bf16 to f32 and back in plain TypeScript. f16 is IEEE half precision, bf16 is the upper half of an f32. A NaN keeps its sign and as
// much of its payload as fits; encoding rounds to nearest, ties to even.
import { bitsOf, fillView, viewOf } from '../../../bytes/views.js'
import { infinityBits, narrowMagnitude } from '../float-bits.js'

/** The f32 pattern of an f16 code. NaN payloads move to the top of the longer mantissa and stay as they are. */
export function f16Bits(code: number): number {
  const sign = (code & 0x8000) << 16
  const magnitude = code & 0x7fff
  if (magnitude >= 0x7c00) return (sign | infinityBits | ((magnitude & 0x3ff) << 13)) >>> 0
  if (magnitude >= 0x400) return (sign | ((magnitude << 13) + 0x38000000)) >>> 0
  if (magnitude === 0) return sign >>> 0
  // A subnormal is magnitude * 2^-24; as an f32 it is normal, without its highest set bit.
  const top = 31 - Math.clz32(magnitude)
  return (sign | ((top + 103) << 23) | ((magnitude << (23 - top)) & 0x7fffff)) >>> 0
}

let f16Table: Uint32Array | undefined

/** The f32 patterns of all 65536 codes: 256 KiB, made at the first use. */
export function f16Patterns(): Uint32Array {
  f16Table ??= Uint32Array.from({ length: 65536 }, (_, code) => f16Bits(code))
  return f16Table
}

export function f16ToF32Plain(source: Uint8Array, target: Float32Array): void {
  const codes = viewOf(Uint16Array, source, target.length)
  const bits = bitsOf(target)
  // The table is twice as fast as computing each pattern, but takes time to make.
  if (bits.length < 8) for (let i = 0; i < bits.length; i++) bits[i] = f16Bits(codes[i]!)
  else {
    const patterns = f16Patterns()
    for (let i = 0; i < bits.length; i++) bits[i] = patterns[codes[i]!]!
  }
}

export function f32ToF16Plain(source: Float32Array, target: Uint8Array): void {
  const bits = bitsOf(source)
  fillView(Uint16Array, target, bits.length, (codes) => {
    for (let i = 0; i < bits.length; i++) {
      const magnitude = bits[i]! & 0x7fffffff
      const sign = (bits[i]! >>> 16) & 0x8000
      if (magnitude < 0x47800000) codes[i] = sign | narrowMagnitude(magnitude, 10, 15)
      else if (magnitude <= infinityBits) codes[i] = sign | 0x7c00
      else codes[i] = sign | 0x7c00 | nanPayload((magnitude >>> 13) & 0x3ff, 0x200)
    }
  })
}

export function bf16ToF32Plain(source: Uint8Array, target: Float32Array): void {
  const codes = viewOf(Uint16Array, source, target.length)
  const bits = bitsOf(target)
  for (let i = 0; i < bits.length; i++) bits[i] = codes[i]! << 16
}

export function f32ToBf16Plain(source: Float32Array, target: Uint8Array): void {
  const bits = bitsOf(source)
  fillView(Uint16Array, target, bits.length, (codes) => {
    for (let i = 0; i < bits.length; i++) {
      const pattern = bits[i]!
      if ((pattern & 0x7fffffff) > infinityBits)
        codes[i] = ((pattern >>> 16) & 0xff80) | nanPayload((pattern >>> 16) & 0x7f, 0x40)
      else codes[i] = (pattern + 0x7fff + ((pattern >>> 16) & 1)) >>> 16
    }
  })
}

/** A NaN whose payload is only in the bits that are dropped must not turn into infinity. */
const nanPayload = (kept: number, quiet: number): number => (kept === 0 ? quiet : kept)
