import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Job, JobHandler } from '../../src/threads/index.js'
import { runMixed, runShared } from '../../src/threads/run-shared.js'
import { allOf } from '../support/all-of.js'
import { fakePool } from './fake-threads.js'

const turns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

/** Takes so many turns of the event loop; a negative number is an error at its end. */
async function take(cost: number): Promise<number> {
  await turns(Math.abs(cost))
  if (cost < 0) throw new Error(`part of ${cost}`)
  return cost
}

const kinds: Readonly<Record<string, JobHandler>> = {
  take: async (data) => take(data as number),
}
const jobFor = (cost: number): Job => ({ kind: 'take', data: cost, file: 'f', offset: 0 })

describe('parts that all threads share', () => {
  it('give their results in order, whoever is done first', async () => {
    const costs = fc.array(fc.nat({ max: 6 }), { maxLength: 30 })
    const property = fc.asyncProperty(costs, fc.integer({ min: 2, max: 5 }), async (list, threads) => {
      const pool = fakePool(threads, kinds)
      const onlyHere = (cost: number): boolean => cost === 3
      const job = (cost: number): Job | undefined => (onlyHere(cost) ? undefined : jobFor(cost))
      expect(await allOf(runMixed(list, { pool, job, here: take }))).toEqual(list)
      const shared = { count: list.length, job: (i: number) => job(list[i]!), here: (i: number) => take(list[i]!) }
      expect(await runShared(pool, shared)).toEqual(list)
      expect(pool.started()).toBeLessThan(threads)
      await pool.close()
    })
    await fc.assert(property, { numRuns: 40 })
  })

  it('fail in their order, too, where they are given one by one', async () => {
    const costs = [1, 20, -9, 1, -1, 1, 1]
    for (const threads of [1, 2, 3, 7]) {
      const pool = threads > 1 ? fakePool(threads, kinds) : undefined
      const given: number[] = []
      const failing = (async () => {
        for await (const cost of runMixed(costs, { pool, job: jobFor, here: take })) given.push(cost)
      })()
      await expect(failing).rejects.toThrow('part of -9')
      expect(given).toEqual([1, 20])
      await pool?.close()
    }
  })

  it('are not begun any more after an error', async () => {
    const pool = fakePool(2, kinds)
    const begun: number[] = []
    const here = async (place: number): Promise<number> => {
      begun.push(place)
      return take(place === 2 ? -1 : 1)
    }
    await expect(runShared(pool, { count: 100, job: () => undefined, here })).rejects.toThrow('part of -1')
    expect(begun.length).toBeLessThan(6)
    await pool.close()
  })

  it('wait for whoever takes the results', async () => {
    const pool = fakePool(3, kinds)
    let begun = 0
    const here = (item: number): number => {
      begun++
      return item
    }
    const items = Array.from({ length: 5000 }, (_, i) => i)
    const results = runMixed(items, { pool, job: () => undefined, here })
    expect((await results.next()).value).toBe(0)
    await turns(50)
    expect(begun).toBeLessThan(1100)
    expect(await allOf(results)).toEqual(items.slice(1))
    expect(begun).toBe(5000)
    await pool.close()
  })

  it('end when nobody wants more', async () => {
    const pool = fakePool(2, kinds)
    const stopped: boolean[] = []
    const here = async (cost: number, signal: AbortSignal | undefined): Promise<number> => {
      await turns(cost)
      stopped.push(signal!.aborted)
      return cost
    }
    for await (const _ of runMixed([1, 200, 200, 200, 200], { pool, job: () => undefined, here })) break
    expect(stopped.filter(Boolean)).toHaveLength(stopped.length - 1)
    expect(stopped.length).toBeLessThan(5)
    expect(pool.held()).toBe(0)
    await pool.close()
  })
})
