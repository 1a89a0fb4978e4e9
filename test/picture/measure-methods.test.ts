import { expect, test } from 'vitest'
import { bytesPayload, dtypeById, measureMethods, type Tensor } from '../../src/kit.js'

const values = Float32Array.from({ length: 4 * 256 }, (_, i) => Math.sin(i))
const tensor: Tensor = {
  name: 'w',
  dtype: dtypeById('f32')!,
  shape: [4, 256],
  order: 'row',
  role: 'weight',
  data: bytesPayload(new Uint8Array(values.buffer)),
}

test('an abort that arrives as an event ends the measuring between two methods', async () => {
  const abort = new AbortController()
  let measured = 0
  const onProgress = ({ done }: { done: number }): void => {
    measured = done
    if (done === 1) setTimeout(() => abort.abort())
  }
  await expect(measureMethods(tensor, { signal: abort.signal, onProgress })).rejects.toThrow()
  expect(measured).toBeLessThanOrEqual(2)
  expect((await measureMethods(tensor)).points.length).toBeGreaterThan(10)
})
