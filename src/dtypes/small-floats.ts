// Floats of eight, six and four bits. All but E8M0 are sign, exponent, mantissa, with subnormals; they differ in what the topmost
// codes mean:
//   ieee    the largest exponent is infinity and NaN, as in f16
//   fn      no infinity; all bits set is NaN ("fn": finite, with NaN)
//   fnuz    no infinity, no minus zero; the code of minus zero is the only NaN. The bias is one more
//   finite  every code is a number (the OCP microscaling types)
// Rounding is to nearest even. What is too large becomes infinity where there is one, NaN where there is none (fn, fnuz), and the
// largest value where there is neither.
import { f32ToCodes } from '../kernels/numbers/codes.js'
import { f32Bits, infinityBits, narrowMagnitude, quietNaN } from '../kernels/numbers/float-bits.js'
import type { DType, ValueSet } from './dtype.js'
import { tableType } from './table-codec.js'

interface MiniFloat {
  readonly width: 4 | 6 | 8
  readonly exponentBits: number
  readonly mantissaBits: number
  readonly bias: number
  readonly special: 'ieee' | 'fn' | 'fnuz' | 'finite'
}

function miniFloat<Id extends string>(id: Id, format: MiniFloat): DType<Id> {
  const patternsWith = (nanBits: number) => (): Uint32Array =>
    Uint32Array.from({ length: 2 ** format.width }, (_, code) => decodeMini(code, format, nanBits))
  return tableType({
    id,
    kind: 'float',
    width: format.width,
    patterns: patternsWith(quietNaN),
    // Only here is the quiet bit one of several that tell NaN codes apart.
    nanPatterns: format.special === 'ieee' ? patternsWith(infinityBits) : undefined,
    encode: { f32: f32ToCodes(miniEncoder(format)) },
    values: valuesOf(format),
  })
}

/**
 * The f32 pattern of a code. A NaN keeps its sign, and its payload is or-ed to `nanBits`: to a quiet NaN, as in other programs that keep
 * payloads, or to the bare exponent, which keeps it as it is.
 */
function decodeMini(code: number, format: MiniFloat, nanBits = quietNaN): number {
  const { width, exponentBits, mantissaBits, bias, special } = format
  const sign = code >>> (width - 1)
  const exponent = (code >>> mantissaBits) % 2 ** exponentBits
  const mantissa = code % 2 ** mantissaBits
  const magnitude = code % 2 ** (width - 1)
  if (special === 'fnuz' && sign === 1 && magnitude === 0) return quietNaN
  if (magnitude > largestCode(format)) {
    const payload = special === 'ieee' && mantissa === 0 ? infinityBits : nanBits | (mantissa << (23 - mantissaBits))
    return ((sign << 31) | payload) >>> 0
  }
  const value =
    exponent === 0
      ? mantissa * 2 ** (1 - bias - mantissaBits)
      : (1 + mantissa / 2 ** mantissaBits) * 2 ** (exponent - bias)
  return f32Bits(sign === 1 ? -value : value)
}

/** The code of the largest finite value. */
function largestCode({ width, mantissaBits, special }: MiniFloat): number {
  const all = 2 ** (width - 1) - 1
  if (special === 'ieee') return all - 2 ** mantissaBits
  return special === 'fn' ? all - 1 : all
}

function valuesOf(format: MiniFloat): ValueSet {
  const { bias, mantissaBits, special } = format
  const bits = decodeMini(largestCode(format), format)
  const highest = new Float32Array(Uint32Array.of(bits).buffer)[0]!
  return {
    lowest: -highest,
    highest,
    step: 1 - bias - mantissaBits,
    precision: mantissaBits + 1,
    negativeZero: special !== 'fnuz',
    infinity: special === 'ieee',
    nan: special !== 'finite',
  }
}

/** Gives the code of an f32 pattern, or undefined where the type has none for it. */
function miniEncoder(format: MiniFloat): (pattern: number) => number | undefined {
  const { width, mantissaBits, bias, special } = format
  const largest = largestCode(format)
  const signBit = 2 ** (width - 1)
  const nan = (sign: number, mantissa: number): number => {
    if (special === 'fnuz') return signBit
    if (special === 'fn') return sign | (signBit - 1)
    return sign | (largest + 1) | (mantissa >>> (23 - mantissaBits) || 1 << (mantissaBits - 1))
  }
  return (pattern) => {
    const sign = pattern >>> 31 === 1 ? signBit : 0
    const magnitude = pattern & 0x7fffffff
    if (magnitude > infinityBits) return special === 'finite' ? undefined : nan(sign, pattern & 0x7fffff)
    const code = narrowMagnitude(magnitude, mantissaBits, bias)
    if (code === 0 && special === 'fnuz') return 0
    if (code <= largest) return sign | code
    if (special === 'finite') return sign | largest
    return special === 'ieee' ? sign | (largest + 1) : nan(sign, 0)
  }
}

/**
 * A bare exponent: 2^(code-127), with 255 for NaN; the scale of microscaling blocks. There is no sign and no zero: zero and everything
 * below the smallest power becomes 2^-127, a negative number is refused. A value halfway between two powers goes to the even code.
 */
function encodeExponent(pattern: number): number | undefined {
  const magnitude = pattern & 0x7fffffff
  if (magnitude > infinityBits) return 255
  if (pattern > 0x80000000) return undefined
  if (magnitude < 0x800000) return magnitude > 0x600000 ? 1 : 0
  return Math.min((magnitude + 0x3fffff + ((magnitude >>> 23) & 1)) >>> 23, 255)
}

export const f8_e4m3 = miniFloat('f8_e4m3', { width: 8, exponentBits: 4, mantissaBits: 3, bias: 7, special: 'fn' })
export const f8_e5m2 = miniFloat('f8_e5m2', { width: 8, exponentBits: 5, mantissaBits: 2, bias: 15, special: 'ieee' })
export const f8_e4m3fnuz = miniFloat('f8_e4m3fnuz', {
  width: 8,
  exponentBits: 4,
  mantissaBits: 3,
  bias: 8,
  special: 'fnuz',
})
export const f8_e5m2fnuz = miniFloat('f8_e5m2fnuz', {
  width: 8,
  exponentBits: 5,
  mantissaBits: 2,
  bias: 16,
  special: 'fnuz',
})
export const f6_e2m3 = miniFloat('f6_e2m3', { width: 6, exponentBits: 2, mantissaBits: 3, bias: 1, special: 'finite' })
export const f6_e3m2 = miniFloat('f6_e3m2', { width: 6, exponentBits: 3, mantissaBits: 2, bias: 3, special: 'finite' })
export const f4_e2m1 = miniFloat('f4_e2m1', { width: 4, exponentBits: 2, mantissaBits: 1, bias: 1, special: 'finite' })
export const f8_e8m0 = tableType({
  id: 'f8_e8m0',
  kind: 'float',
  width: 8,
  patterns: () =>
    Uint32Array.from({ length: 256 }, (_, code) => (code === 255 ? quietNaN : f32Bits(2 ** (code - 127)))),
  encode: { f32: f32ToCodes(encodeExponent) },
  values: { lowest: 2 ** -127, highest: 2 ** 127, step: -127, precision: 1, zero: false, nan: true },
})

export const smallFloats = [f8_e4m3, f8_e5m2, f8_e8m0, f8_e4m3fnuz, f8_e5m2fnuz, f6_e2m3, f6_e3m2, f4_e2m1] as const
