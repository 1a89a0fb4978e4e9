// Values that are hard to encode, 32 at a time.
import fc from 'fast-check'

const list = <T>(each: fc.Arbitrary<T>) => fc.array(each, { minLength: 32, maxLength: 32 })
/** Patterns of any exponent. */
const patterns = list(fc.nat(0xffffffff).map(floatOf))
/** Those of one exponent. */
const close = fc
  .tuple(fc.nat(253), list(fc.nat(0xffffff)))
  .map(([e, all]) => all.map((x) => floatOf((x & 0x7fffff) + e * 2 ** 23 + (x > 0x7fffff ? 2 ** 31 : 0))))
/** Whole and half numbers of steps, where rounding has ties. */
const ties = fc
  .tuple(fc.integer({ min: -149, max: 60 }), list(fc.integer({ min: -254, max: 254 })))
  .map(([e, all]) => [...all.slice(1).map((x) => (x / 2) * 2 ** e), 127 * 2 ** e])
const few = list(fc.constantFrom(0, -0, 1, -1, 0.5, 8, -8))
/** As trained weights are. */
const weights = fc
  .tuple(
    fc.integer({ min: -30, max: 10 }),
    list(fc.tuple(fc.double({ min: 1e-9, max: 1, noNaN: true }), fc.double({ min: 0, max: 7, noNaN: true }))),
  )
  .map(([e, all]) => all.map(([a, b]) => Math.sqrt(-2 * Math.log(a)) * Math.cos(b) * 2 ** e))
/** A constant, or next to one: below zero it has no scale, and one far smaller than its minimum. */
const constants = fc
  .tuple(fc.integer({ min: -40, max: 40 }), fc.constantFrom(1, -1), list(fc.constantFrom(0, 0, 0, 2 ** -22)))
  .map(([e, sign, all]) => all.map((x) => sign * (1 + x) * 2 ** e))
/** Any of these. */
export const parts = fc.oneof(patterns, close, ties, few, weights, constants)

/** The number with this pattern; one that is not finite becomes a large one. */
export function floatOf(pattern: number): number {
  const value = new Float32Array(Uint32Array.of(pattern).buffer)[0]!
  return Number.isFinite(value) ? value : 3e38
}
