import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { formatNumber } from '../../src/inspect/format-number.js'

const view = new DataView(new ArrayBuffer(8))

/** %g by the book, in whole numbers: the double is a fraction of two bigints, and the six digits are its rounded quotient. */
function printfG(value: number): string {
  view.setFloat64(0, value)
  const bits = view.getBigUint64(0)
  const sign = bits >> 63n === 1n ? '-' : ''
  const stored = Number((bits >> 52n) & 0x7ffn)
  const fraction = bits & 0xfffffffffffffn
  if (stored === 0x7ff) return fraction === 0n ? `${sign}inf` : 'nan'
  if (stored === 0 && fraction === 0n) return `${sign}0`
  const mantissa = stored === 0 ? fraction : fraction + 0x10000000000000n
  const power = Math.max(stored, 1) - 1075
  const above = power > 0 ? mantissa << BigInt(power) : mantissa
  const below = power > 0 ? 1n : 1n << BigInt(-power)

  let exponent = 400
  while (above * tenTo(Math.max(-exponent, 0)) < below * tenTo(Math.max(exponent, 0))) exponent--
  const shift = 5 - exponent
  const divisor = below * tenTo(Math.max(-shift, 0))
  const dividend = above * tenTo(Math.max(shift, 0))
  let digits = dividend / divisor
  const rest = 2n * (dividend % divisor)
  if (rest > divisor || (rest === divisor && digits % 2n === 1n)) digits++
  if (digits === 1_000_000n) {
    digits = 100_000n
    exponent++
  }
  const text = String(digits)
  if (exponent < -4 || exponent > 5) {
    const tail = text.slice(1).replace(/0+$/, '')
    const size = Math.abs(exponent) < 10 ? `0${Math.abs(exponent)}` : `${Math.abs(exponent)}`
    return `${sign}${text[0]}${tail && `.${tail}`}e${exponent < 0 ? '-' : '+'}${size}`
  }
  const whole = exponent < 0 ? '0' : text.slice(0, exponent + 1)
  const tail = (exponent < 0 ? text.padStart(5 - exponent, '0') : text.slice(exponent + 1)).replace(/0+$/, '')
  return `${sign}${whole}${tail && `.${tail}`}`
}

const tenTo = (power: number): bigint => 10n ** BigInt(power)

describe('formatNumber', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [NaN, 'nan'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
    [1, '1'],
    [-1.5, '-1.5'],
    [0.1, '0.1'],
    [100, '100'],
    [277452.5, '277452'],
    [277453.5, '277454'],
    [999999, '999999'],
    [999999.5, '1e+06'],
    [1e6, '1e+06'],
    [1234567, '1.23457e+06'],
    [0.0001, '0.0001'],
    [0.00009999995, '0.0001'],
    [0.00001, '1e-05'],
    [3.140625, '3.14062'],
    [1.1953125, '1.19531'],
    [5e-324, '4.94066e-324'],
    [Number.MAX_VALUE, '1.79769e+308'],
    [2 ** 63, '9.22337e+18'],
    [1e100, '1e+100'],
  ])('writes %d as %s', (value, text) => {
    expect(formatNumber(value)).toBe(text)
    expect(printfG(value)).toBe(text)
  })

  it('agrees with whole-number arithmetic for any double', () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        expect(formatNumber(value)).toBe(printfG(value))
      }),
    )
  })

  it('agrees for short floats, which often lie in the middle of two decimals', () => {
    const mantissas = fc.integer({ min: -(2 ** 24), max: 2 ** 24 })
    fc.assert(
      fc.property(mantissas, fc.integer({ min: -24, max: 8 }), (mantissa, power) => {
        expect(formatNumber(mantissa * 2 ** power)).toBe(printfG(mantissa * 2 ** power))
      }),
      { numRuns: 1000 },
    )
  })

  it('agrees around every power of ten', () => {
    fc.assert(
      fc.property(fc.integer({ min: -320, max: 308 }), fc.integer({ min: -60, max: 60 }), (power, offset) => {
        const value = Number(`1e${power}`) * (1 + offset * 1e-7)
        expect(formatNumber(value)).toBe(printfG(value))
      }),
    )
  })
})
