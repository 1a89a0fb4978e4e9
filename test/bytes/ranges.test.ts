import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  areApart,
  batches,
  coveredBytes,
  gaps,
  inOrder,
  joined,
  overlaps,
  pieces,
  type Range,
  withReached,
} from '../../src/bytes/ranges.js'

const size = 40
const range = fc
  .tuple(fc.integer({ min: 0, max: size }), fc.integer({ min: 0, max: size }))
  .map(([a, b]): Range => ({ start: Math.min(a, b), end: Math.max(a, b) }))
const ranges = fc.array(range, { maxLength: 8 })

/** How many of the ranges have each byte. */
function counts(list: Iterable<Range>): number[] {
  const owners = new Array<number>(size).fill(0)
  for (const { start, end } of list) for (let i = start; i < end; i++) owners[i]!++
  return owners
}

describe('ranges', () => {
  it('come by their start, and of those that start together the longest, the shortest or the given one first', () => {
    fc.assert(
      fc.property(ranges, fc.constantFrom('longest' as const, 'shortest' as const, 'given' as const), (list, ties) => {
        const ordered = inOrder(list, ties)
        expect(new Set(ordered)).toEqual(new Set(list))
        for (const [i, { start, end }] of ordered.entries()) {
          const before = ordered[i - 1]
          if (!before) continue
          expect(before.start).toBeLessThanOrEqual(start)
          if (before.start !== start) continue
          if (ties === 'given') expect(list.indexOf(before)).toBeLessThan(list.indexOf(ordered[i]!))
          else expect(ties === 'longest' ? before.end >= end : before.end <= end).toBe(true)
        }
      }),
    )
  })

  it('stay the same list where they are in order', () => {
    const list = [
      { start: 0, end: 4 },
      { start: 4, end: 4 },
      { start: 9, end: 12 },
    ]
    expect(inOrder(list)).toBe(list)
  })

  it('have gaps where no range is', () => {
    fc.assert(
      fc.property(ranges, (list) => {
        const found = [...gaps(inOrder(list), 0, size)]
        const owners = counts(list)
        expect(counts(found)).toEqual(owners.map((count) => (count === 0 ? 1 : 0)))
        for (const gap of found) expect(gap.end).toBeGreaterThan(gap.start)
      }),
    )
  })

  it('come with the end of those before them, and with the one that ends there', () => {
    fc.assert(
      fc.property(ranges, fc.nat(size), (list, start) => {
        const ordered = inOrder(list)
        const steps = [...withReached(ordered, start)]
        expect(steps.map((step) => step.range)).toEqual(ordered)
        for (const [i, { reached, before }] of steps.entries()) {
          const ends = ordered.slice(0, i).map(({ end }) => end)
          expect(reached).toBe(Math.max(start, ...ends))
          expect(before === undefined).toBe(i === 0)
          if (before) expect(before.end).toBe(Math.max(...ends))
        }
      }),
    )
  })

  it('are apart unless some byte has two owners, and then there is an overlap', () => {
    fc.assert(
      fc.property(ranges, (list) => {
        const isShared = counts(list).some((count) => count > 1)
        expect(areApart(list)).toBe(!isShared)
        const found = [...overlaps(inOrder(list))]
        expect(found.length > 0).toBe(isShared)
        for (const [before, range] of found) {
          expect(before.start).toBeLessThanOrEqual(range.start)
          expect(range.start).toBeLessThan(before.end)
        }
      }),
    )
  })

  it('cover as many bytes as have an owner, joined or not', () => {
    fc.assert(
      fc.property(ranges, (list) => {
        const owned = counts(list).map((count) => Math.min(1, count))
        expect(coveredBytes(list)).toBe(owned.filter((count) => count > 0).length)
        const few = joined(list)
        expect(counts(few)).toEqual(owned)
        for (const [i, { start }] of few.entries()) if (i > 0) expect(few[i - 1]!.end).toBeLessThan(start)
      }),
    )
  })

  it('come in batches of neighbours, each no longer than it may be', () => {
    const limits = fc.record({ near: fc.nat(5), max: fc.integer({ min: 1, max: 20 }) })
    fc.assert(
      fc.property(ranges, limits, (list, { near, max }) => {
        const ordered = inOrder(list)
        const found = [...batches(ordered, near, max)]
        expect(found.flatMap((batch) => batch.ranges)).toEqual([...ordered])
        for (const { start, end, ranges: inside } of found) {
          expect(start).toBe(inside[0]!.start)
          expect(end).toBe(Math.max(...inside.map((each) => each.end)))
          expect(end - start).toBeLessThanOrEqual(Math.max(max, ...inside.map((each) => each.end - each.start)))
          for (const gap of gaps(inside, start, end)) expect(gap.end - gap.start).toBeLessThanOrEqual(near)
        }
      }),
    )
  })

  it('are cut into pieces that have the same bytes', () => {
    fc.assert(
      fc.property(ranges, fc.integer({ min: 1, max: 20 }), (list, max) => {
        const found = [...pieces(list, max)]
        expect(counts(found)).toEqual(counts(list))
        for (const { start, end } of found) expect(end - start).toBeLessThanOrEqual(max)
      }),
    )
  })
})
