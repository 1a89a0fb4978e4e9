import { expect, test } from 'vitest'
import { bytesPayload, dtypeById, measureMethods, type Tensor } from '../../src/kit.js'

const values = Float32Array.from({ length: 4 * 256 }, (_, i) => Math.sin(i))
const tensorOf = (values: Float32Array): Tensor => ({
  name: 'w',
  dtype: dtypeById('f32')!,
  shape: [4, 256],
  order: 'row',
  role: 'weight',
  data: bytesPayload(new Uint8Array(values.buffer)),
})
const tensor = tensorOf(values)

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

test('a method that has no scale for the values is left out, and the others are measured', async () => {
  const { points } = await measureMethods(tensorOf(values.map((value) => 1e9 * value)))
  const methods = points.map(({ method }) => method)
  expect(methods).toContain('mcf.int8')
  expect(methods).not.toContain('mcf.q8')
  expect((await measureMethods(tensor)).points.map(({ method }) => method)).toContain('mcf.q8')
})
