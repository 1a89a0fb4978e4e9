import { describe, expect, it } from 'vitest'
import { BlobSource, openModel, statsOfTensors, type Tensor } from '../../src/kit.js'
import { workerJobs } from '../../src/threads/worker-jobs.js'
import { allOf } from '../support/all-of.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { fakePool } from '../threads/fake-threads.js'

const types = ['f32', 'f16', 'u8', 'i64', 'f64', 'bool']
const model = sampleModel(types.map((type, i) => sampleTensor(type, type, [40, 700 + i], i + 1)))

async function tensorsInFile(): Promise<readonly Tensor[]> {
  const bytes = (await convertToFiles(model, 'safetensors', { name: 'm.safetensors' })).get('m.safetensors')!
  return (await openModel(new BlobSource(new Blob([bytes.slice()]), 'm.safetensors'))).tensors
}

describe('statistics of many tensors', () => {
  it('are the same on one thread and on several', async () => {
    const tensors = await tensorsInFile()
    const alone = await allOf(statsOfTensors(tensors, { bins: 7 }))
    expect(alone.map((stats) => stats.reason)).toEqual(types.map(() => undefined))
    for (const threads of [2, 3]) {
      const pool = fakePool(threads, workerJobs)
      expect(await allOf(statsOfTensors(tensors, { bins: 7, pool }))).toEqual(alone)
      expect(pool.started()).toBe(threads - 1) // and this one
      await pool.close()
    }
  })

  it('are computed here where the values are only here', async () => {
    const inFile = await tensorsInFile()
    const mixed = model.tensors.map((tensor, i) =>
      i % 2 === 0 ? tensor : inFile.find(({ name }) => name === tensor.name)!,
    )
    const pool = fakePool(2, workerJobs)
    expect(await allOf(statsOfTensors(mixed, { pool }))).toEqual(await allOf(statsOfTensors(mixed)))
    expect(pool.started()).toBe(1)
    await pool.close()
  })

  it('tell how far they are, and stop when nobody listens', async () => {
    const pool = fakePool(2, workerJobs)
    const seen: number[] = []
    let total = 0
    const tensors = await tensorsInFile()
    const onProgress = (progress: { done: number; total: number }): void => {
      seen.push(progress.done)
      total = progress.total
    }
    for await (const _ of statsOfTensors(tensors, { pool, onProgress }));
    expect(seen).toEqual(seen.toSorted((a, b) => a - b))
    expect(seen.at(-1)).toBe(total)
    for await (const _ of statsOfTensors(tensors, { pool })) break
    expect(pool.held()).toBe(0)
    await pool.close()
  })
})
