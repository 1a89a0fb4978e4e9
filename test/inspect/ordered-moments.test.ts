import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OrderedSum } from '../../src/inspect/ordered-moments.js'

/** The order of additions written down as what it is: halves of halves. */
function sumOf(values: readonly number[]): number {
  const count = values.length
  if (count > 128) {
    const half = Math.floor(count / 2)
    const first = half - (half % 8)
    return sumOf(values.slice(0, first)) + sumOf(values.slice(first))
  }
  if (count < 8) return values.reduce((sum, value) => sum + value, 0)
  const whole = count - (count % 8)
  const lane = (at: number): number => {
    let sum = values[at]!
    for (let i = at + 8; i < whole; i += 8) sum += values[i]!
    return sum
  }
  const pairs = [0, 2, 4, 6].map((at) => lane(at) + lane(at + 1))
  const sum = pairs[0]! + pairs[1]! + (pairs[2]! + pairs[3]!)
  return values.slice(whole).reduce((total, value) => total + value, sum)
}

describe('an ordered sum', () => {
  it('does not depend on the pieces in which the values come', () => {
    const value = fc.double({ min: -1, max: 1, noNaN: true })
    fc.assert(
      fc.property(
        fc.array(value, { maxLength: 600 }),
        fc.array(fc.nat({ max: 300 }), { maxLength: 8 }),
        (values, cuts) => {
          const sum = new OrderedSum(values.length)
          let at = 0
          for (const length of [...cuts, values.length]) {
            sum.add(Float64Array.from(values.slice(at, at + length)))
            at += length
          }
          expect(sum.total).toBe(sumOf(values))
        },
      ),
      { seed: 5, numRuns: 200 },
    )
  })

  it('of nothing is zero', () => expect(new OrderedSum(0).total).toBe(0))
})
