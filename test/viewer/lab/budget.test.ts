import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { budgetRange, rulesFor, spend } from '../../../viewer/src/screens/lab/budget.js'

const kind = (glob: string, values: number, scale: number) => ({
  ...{ glob, count: 1, values, bytes: 2 * values, example: glob, power: scale ** 2 },
  points: [2.5, 4.5, 6.5, 8.5].map((bits, i) => ({
    method: `ggml.m${i}`,
    bitsPerWeight: bits,
    snr: 6 * bits,
    rmse: scale / 2 ** bits,
  })),
})

describe('spending a budget', () => {
  it('stays within it, and more is never worse', () => {
    const kinds = fc.array(
      fc.tuple(fc.integer({ min: 256, max: 1e6 }), fc.double({ min: 0.01, max: 10, noNaN: true })),
      { minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(kinds, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
        const all = given.map(([values, scale], i) => kind(`k${i}`, values, scale))
        const [low, high] = budgetRange(all)
        const total = (budget: number, key: 'bytes' | 'error'): number =>
          spend(all, budget).reduce((sum, each) => sum + each[key], 0)
        const budget = low + share * (high - low)
        expect(total(budget, 'bytes')).toBeLessThanOrEqual(budget * (1 + 1e-9))
        expect(total(high * (1 + 1e-9), 'error')).toBeLessThanOrEqual(total(budget, 'error') * (1 + 1e-9))
        expect(total(high * (1 + 1e-9), 'bytes')).toBeCloseTo(high, -1)
      }),
    )
  })

  it('gives bits where they remove the most error', () => {
    const all = [kind('loud', 1000, 10), kind('quiet', 1000, 0.1)]
    const chosen = spend(all, ((2.5 + 8.5) * 1000) / 8)
    expect(chosen.map(({ glob, method }) => [glob, method])).toEqual([
      ['loud', 'ggml.m3'],
      ['quiet', 'ggml.m0'],
    ])
  })

  it('leaves alone what somebody chose, and becomes rules of the command', () => {
    const all = [kind('a.*', 1000, 1), kind('b.*', 10, 1)]
    const chosen = spend(all, 1e9, new Map([['b.*', 'ggml.m1']]))
    expect(rulesFor(chosen)).toEqual({ method: 'm3', rules: [['b.*', 'm1']] })
  })
})
