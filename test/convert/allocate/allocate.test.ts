import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allocate, type Option } from '../../../src/convert/allocate/allocate.js'

const option = fc.record({
  method: fc.string({ maxLength: 3 }),
  bytes: fc.integer({ min: 1, max: 1000 }),
  error: fc.double({ min: 0, max: 100, noNaN: true }),
})
const tensors = fc.array(fc.array(option, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 })

const sum = (options: readonly Option[], pick: (option: Option) => number): number =>
  options.reduce((total, each) => total + pick(each), 0)

describe('allocate', () => {
  it('gives bits to the tensors that gain most by them', () => {
    const two = (errors: readonly number[]): Option[] => [
      { method: 'small', bytes: 10, error: errors[0]! },
      { method: 'large', bytes: 20, error: errors[1]! },
    ]
    const methods = (budget: number) => allocate([two([5, 4]), two([9, 1])], budget)?.map(({ method }) => method)
    expect(methods(19)).toBeUndefined()
    expect(methods(20)).toEqual(['small', 'small'])
    expect(methods(30)).toEqual(['small', 'large'])
    expect(methods(40)).toEqual(['large', 'large'])
  })

  it('never takes an option that is larger and no better', () => {
    const options = [
      { method: 'a', bytes: 10, error: 1 },
      { method: 'b', bytes: 12, error: 1 },
      { method: 'c', bytes: 15, error: 2 },
    ]
    expect(allocate([options], 100)?.map(({ method }) => method)).toEqual(['a'])
  })

  it('stays within the budget', () => {
    fc.assert(
      fc.property(tensors, fc.integer({ min: 0, max: 6000 }), (given, budget) => {
        const chosen = allocate(given, budget)
        const least = given.reduce((total, options) => total + Math.min(...options.map(({ bytes }) => bytes)), 0)
        expect(chosen === undefined).toBe(budget < least)
        if (!chosen) return
        expect(sum(chosen, ({ bytes }) => bytes)).toBeLessThanOrEqual(budget)
        for (const [i, each] of chosen.entries()) expect(given[i]).toContain(each)
      }),
    )
  })

  it('is at least as good as the best choice for any price of a byte', () => {
    fc.assert(
      fc.property(tensors, fc.double({ min: 1e-3, max: 10, noNaN: true }), (given, price) => {
        const cost = ({ error, bytes }: Option): number => error + price * bytes
        const best = given.map((options) => options.reduce((a, b) => (cost(b) < cost(a) ? b : a)))
        const chosen = allocate(
          given,
          sum(best, ({ bytes }) => bytes),
        )!
        const error = sum(best, (each) => each.error)
        expect(sum(chosen, (each) => each.error)).toBeLessThanOrEqual(error * (1 + 1e-9) + 1e-9)
      }),
    )
  })
})
