// Comparing on several threads finds what one thread finds.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { BlobSource } from '../../src/bytes/index.js'
import { diffModels } from '../../src/diff/index.js'
import { u8 } from '../../src/dtypes/index.js'
import { type Model, rangePayload } from '../../src/model/index.js'
import { workerJobs } from '../../src/threads/worker-jobs.js'
import { sampleModel } from '../support/sample-model.js'
import { fakePool } from '../threads/fake-threads.js'
import { tensorOf } from '../transforms/tensors.js'

/** Tensors one after the other in one file. */
function inFile(name: string, bytes: Uint8Array<ArrayBuffer>, lengths: readonly number[]): Model {
  const source = new BlobSource(new Blob([bytes]), name)
  let at = 0
  const tensors = lengths.map((length, i) => {
    const tensor = { ...tensorOf(u8, [length], new Uint8Array(length), { name: `t${i}` }) }
    at += length
    return { ...tensor, data: rangePayload(source, at - length, length) }
  })
  return sampleModel(tensors)
}

async function compare(lengths: readonly number[], changed: readonly number[]) {
  const size = lengths.reduce((sum, length) => sum + length, 0)
  const bytes = new Uint8Array(size).fill(7)
  const other = bytes.slice()
  for (const at of changed) other[at]! ^= 1
  const [a, b] = [inFile('a', bytes, lengths), inFile('b', other, lengths)]
  const pool = fakePool(3, workerJobs)
  const done: number[] = []
  const onProgress = (progress: { done: number; total: number }): void => {
    expect(progress.total).toBe(2 * size)
    done.push(progress.done)
  }
  const shared = await diffModels(a, b, { pool, onProgress, measure: false })
  expect(done).toEqual(done.toSorted((x, y) => x - y))
  await pool.close()
  const alone = await diffModels(a, b, { measure: false })
  expect(shared).toEqual(alone)
  return { shared, threads: pool.started() }
}

it('finds the first byte of a long tensor that differs, wherever it is', async () => {
  const piece = 16 << 20
  const size = 2 * piece + 5
  for (const changed of [[], [piece + 3, piece], [size - 1], [0, size - 1]]) {
    const { shared, threads } = await compare([size, 3], changed)
    expect(threads).toBeGreaterThan(0)
    expect(shared.tensors[0]?.firstByte).toBe(changed.length > 0 ? Math.min(...changed) : undefined)
  }
})

it('tells many tensors apart', async () => {
  const lengths = fc.array(fc.nat(40), { minLength: 1, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(lengths, fc.array(fc.nat(1200), { maxLength: 4 }), async (list, places) => {
      const size = list.reduce((sum, length) => sum + length, 0)
      await compare(
        list,
        places.filter((place) => place < size),
      )
    }),
    { numRuns: 40 },
  )
})
