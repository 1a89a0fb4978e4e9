import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LazyList, type List } from '../../src/bytes/lazy-list.js'

class Doubled extends LazyList<number> {
  readonly #halves: readonly number[]

  constructor(halves: readonly number[]) {
    super()
    this.#halves = halves
  }

  get length(): number {
    return this.#halves.length
  }

  protected make(index: number): number {
    return 2 * this.#halves[index]!
  }
}

it('does what an array of the same items does', () => {
  const place = fc.option(fc.integer({ min: -12, max: 12 }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(fc.nat(9), { maxLength: 10 }), place, place, fc.nat(18), (halves, start, end, limit) => {
      const lazy: List<number> = new Doubled(halves)
      const array: List<number> = halves.map((half) => 2 * half)
      const alike = (ask: (list: List<number>) => unknown): void => expect(ask(lazy)).toEqual(ask(array))
      const isLarge = (item: number, i: number): boolean => item + i > limit
      alike((list) => list.length)
      alike((list) => [...list])
      alike((list) => [...list.keys()])
      alike((list) => [...list.entries()])
      for (const index of [start ?? 0, (start ?? 0) + 0.5, Number.NaN]) alike((list) => list.at(index))
      alike((list) => list.slice(start, end))
      alike((list) => list.map((item, i) => item - i))
      alike((list) => list.flatMap((item, i) => (item > limit ? item : [item, i])))
      alike((list) => list.filter(isLarge))
      alike((list) => list.find(isLarge))
      alike((list) => list.findIndex(isLarge))
      alike((list) => list.some(isLarge))
      alike((list) => list.every(isLarge))
      alike((list) => list.reduce((sum, item, i) => sum * 3 + item + i, 1))
      alike((list) => list.toSorted((a, b) => b - a))
      alike((list) => JSON.stringify({ list }))
      alike((list) => {
        const seen: number[] = []
        list.forEach((item, i) => void seen.push(item, i))
        return seen
      })
    }),
  )
})
