import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fillsWindow, fillWindows, type JobHandler } from '../../src/threads/index.js'
import { fakePool } from './fake-threads.js'

interface Order {
  readonly value: number
  readonly turns: number
}

/** Fills its bytes with one value, after so many turns of the event loop. */
const kinds: Readonly<Record<string, JobHandler>> = {
  fill: fillsWindow(async (data, bytes) => {
    const { value, turns } = data as Order
    for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve))
    if (value < 0) throw new Error('this one cannot be made')
    bytes.fill(value)
  }),
}

const filling = (turns: readonly number[], ahead: number, valueAt = (i: number): number => i % 256) => ({
  count: turns.length,
  lengthOf: (i: number) => (i === turns.length - 1 ? 5 : 9),
  job: (i: number) => ({ kind: 'fill', data: { value: valueAt(i), turns: turns[i]! }, file: 'f', offset: i }),
  ahead,
})

/** As they are when their turn comes: memory is used again afterwards. */
async function copies(pieces: AsyncIterable<Uint8Array>): Promise<number[][]> {
  const all: number[][] = []
  for await (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve))
    all.push([...piece])
  }
  return all
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('windows that other threads fill', () => {
  const turns = fc.array(fc.nat({ max: 5 }), { maxLength: 20 })
  const made = (count: number): number[][] =>
    Array.from({ length: count }, (_, i) => Array.from({ length: i === count - 1 ? 5 : 9 }, () => i % 256))

  it('come in order, and stay as they are until the next is asked for', async () => {
    const property = fc.asyncProperty(turns, fc.integer({ min: 1, max: 6 }), async (list, ahead) => {
      const pool = fakePool(3, kinds)
      expect(await copies(fillWindows(pool, filling(list, ahead)))).toEqual(made(list.length))
      await pool.close()
    })
    await fc.assert(property, { numRuns: 40 })
  })

  it('are handed over where threads share no memory', async () => {
    vi.stubGlobal('SharedArrayBuffer', undefined)
    const pool = fakePool(3, kinds)
    expect(await copies(fillWindows(pool, filling([3, 0, 2, 0, 1], 3)))).toEqual(made(5))
    await pool.close()
  })

  it('take the memory of those before, not new one', async () => {
    const pool = fakePool(2, kinds)
    const buffers = new Set<unknown>()
    const list = Array.from({ length: 40 }, () => 0)
    for await (const piece of fillWindows(pool, filling(list, 3))) buffers.add(piece.buffer)
    for await (const piece of fillWindows(pool, filling(list, 3))) buffers.add(piece.buffer)
    expect(buffers.size).toBe(4)
    await pool.close()
  })

  it('end with the error of the first that cannot be made', async () => {
    const pool = fakePool(2, kinds)
    const pieces = fillWindows(
      pool,
      filling([0, 0, 3, 0, 0], 3, (i) => (i >= 2 ? -1 : i)),
    )
    await expect(copies(pieces)).rejects.toMatchObject({ finding: { offset: 2, path: 'fill' } })
    await pool.close()
  })
})
