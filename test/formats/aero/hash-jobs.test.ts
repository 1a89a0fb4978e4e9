import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digestOf } from '../../../src/digest/index.js'
import { type HashJob, runHashJobs } from '../../../src/formats/aero/hash/hash-jobs.js'
import { MemorySource } from '../../../src/index.js'

const size = 4096
const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31) % 251)
const source = new MemorySource(bytes)

describe('hash jobs', () => {
  it('get the digests of their ranges, and complain by where they end', async () => {
    const range = fc.tuple(fc.nat(size), fc.nat(size)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
    const lists = fc.tuple(
      fc.array(range, { maxLength: 5 }),
      fc.array(range, { maxLength: 20 }),
      fc.array(range, { maxLength: 2 }),
    )
    await fc.assert(
      fc.asyncProperty(lists, async ([first, many, last]) => {
        const all = [...first, ...many, ...last]
        const expected = await Promise.all(all.map(([start, end]) => digestOf('blake3', bytes.subarray(start, end))))
        const told: number[] = []
        const jobOf = (place: number): HashJob => ({
          start: all[place]![0],
          end: all[place]![1],
          isRight(digest) {
            expect(digest).toEqual(expected[place])
            return place % 3 === 0
          },
          complain: () => told.push(place),
        })
        const numbers = [...many.keys()].sort((a, b) => many[a]![0] - many[b]![0])
        await runHashJobs(source, {
          first: first.map((_, i) => jobOf(i)),
          many: { numbers, at: (i) => jobOf(first.length + i) },
          last: last.map((_, i) => jobOf(first.length + many.length + i)),
        })
        const wrong = [...all.keys()].filter((place) => place % 3 !== 0)
        expect(told).toEqual(wrong.sort((a, b) => all[a]![1] - all[b]![1] || a - b))
      }),
      { numRuns: 100 },
    )
  })

  it('are done some at a time when there are many', async () => {
    const count = 40_000
    const wrong = [0, 20_000, 39_999]
    const told: number[] = []
    let made = 0
    const at = (i: number): HashJob => {
      made++
      const start = i % size
      return { start, end: start, isRight: () => !wrong.includes(i), complain: () => told.push(i) }
    }
    const numbers = Array.from({ length: count }, (_, i) => i).sort((a, b) => (a % size) - (b % size) || a - b)
    const whole: HashJob = { start: 0, end: size, isRight: () => false, complain: () => told.push(-1) }
    await runHashJobs(source, { first: [whole], many: { numbers, at } })
    expect(made).toBeLessThan(2 * count)
    expect(told).toEqual([...wrong.sort((a, b) => (a % size) - (b % size)), -1])
  })
})
