// Work on several threads gives the bytes that one gives.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlobSource } from '../../src/bytes/index.js'
import { dtypeById } from '../../src/dtypes/index.js'
import { type Payload, payloadRange, rangePayload, readPayload, type Tensor } from '../../src/model/index.js'
import { recipeOf } from '../../src/model/payload.js'
import { workerJobs } from '../../src/threads/worker-jobs.js'
import { castTensor } from '../../src/transforms/cast.js'
import { decodedPayload } from '../../src/transforms/decode.js'
import { pooled } from '../../src/transforms/pooled.js'
import { requireMethod } from '../../src/transforms/quantize/method.js'
import { quantizeTensor } from '../../src/transforms/quantize/quantize.js'
import { rebuildPayload } from '../../src/transforms/rebuild.js'
import { fakePool, openHandle } from '../threads/fake-threads.js'

/** Bytes that another thread can read, behind some that do not belong to them. */
function payloadIn(bytes: Uint8Array): Payload {
  const source = new BlobSource(new Blob([new Uint8Array(7), bytes.slice()]), 'a.bin')
  return rangePayload(source, 7, bytes.byteLength)
}

function floats(count: number, seed: number): Uint8Array {
  let state = seed + 1
  const values = Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return state / 2 ** 31 - 1
  })
  return new Uint8Array(values.buffer)
}

const tensorOf = (type: string, shape: readonly number[], data: Payload): Tensor => ({
  name: 'w',
  dtype: dtypeById(type)!,
  shape,
  order: 'row',
  role: 'weight',
  data,
})

/** So dear that pieces of this size are worth a way to another thread. */
const costFor = (size: number): number => 4e6 / size

describe('a recoded payload', () => {
  const types = ['f16', 'bf16', 'f8_e4m3', 'f64', 'ggml.q8_0', 'ggml.q4_k']
  it('is the same from another thread, slice by slice', async () => {
    const pool = fakePool(2, workerJobs)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...types),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 100, max: 5000 }),
        fc.nat(),
        async (type, rows, size, seed) => {
          const source = tensorOf('f32', [rows, 256], payloadIn(floats(rows * 256, seed)))
          const { data } = castTensor(source, dtypeById(type)!)
          const alone = await readPayload(data!)
          const shared = pooled(data!, pool, costFor(size))
          expect(shared === data).toBe(data!.byteLength < 2 * size)
          expect(Buffer.compare(await readPayload(shared), alone)).toBe(0)
          const { unit, take } = shared.slices!
          const from = unit * Math.floor(alone.byteLength / unit / 3)
          const rest = await readPayload(take(from, alone.byteLength - from))
          expect(Buffer.compare(rest, alone.subarray(from))).toBe(0)
        },
      ),
      { numRuns: 15 },
    )
    expect(pool.started()).toBe(2)
    await pool.close()
  })

  it('is decoded from codes that lie apart from their scales', async () => {
    const pool = fakePool(2, workerJobs)
    const original = tensorOf('f32', [60, 100], payloadIn(floats(6000, 3)))
    for (const method of ['q8', 'q4', 'k6', 'k4', 'k3', 'k2']) {
      const bytes = await readPayload(quantizeTensor(original, method).data!)
      const values = decodedPayload(tensorOf(requireMethod(method).id, [60, 100], payloadIn(bytes)), 'f32')!
      const shared = pooled(values, pool, costFor(1000))
      expect(shared).not.toBe(values)
      expect(Buffer.compare(await readPayload(shared), await readPayload(values))).toBe(0)
    }
    await pool.close()
  })

  it('that cannot be made gives the error of the one thread', async () => {
    const bytes = new Uint8Array(16_000)
    new DataView(bytes.buffer).setFloat32(4 * 3210, 1e30, true)
    const source = tensorOf('f32', [4000], payloadIn(bytes))
    const { data } = castTensor(source, dtypeById('i32')!)
    const pool = fakePool(2, workerJobs)
    const own = await readPayload(data!).catch((error) => error.finding)
    expect(own).toMatchObject({ code: 'write/value-range', path: 'w', offset: 7 + 4 * 3210 })
    expect(await readPayload(pooled(data!, pool, costFor(1024))).catch((error) => error.finding)).toEqual(own)
    await pool.close()
  })

  it('that is not in a file stays in this thread', async () => {
    const bytes = floats(4000, 1)
    const here: Payload = { byteLength: bytes.byteLength, chunks: () => [bytes] as never }
    const { data } = castTensor(tensorOf('f32', [4000], here), dtypeById('f16')!)
    expect(recipeOf(data)).toBeUndefined()
    const pool = fakePool(2, workerJobs)
    expect(pooled(data!, pool, costFor(1024))).toBe(data)
  })

  it('comes in slices that start at whole groups', async () => {
    const source = tensorOf('f32', [8, 256], payloadIn(floats(2048, 5)))
    const { data } = castTensor(source, dtypeById('ggml.q4_k')!)
    const whole = await readPayload(data!)
    const { unit, take } = rebuildPayload(recipeOf(data)!, openHandle, {}).slices!
    expect(unit).toBe(144)
    expect(await readPayload(take(3 * unit, 2 * unit))).toEqual(whole.subarray(3 * unit, 5 * unit))
    const decoded = decodedPayload(tensorOf('ggml.q4_k', [8, 256], payloadIn(whole)), 'f32')!
    const values = await readPayload(decoded)
    expect(decoded.slices!.unit).toBe(1024)
    expect(await readPayload(decoded.slices!.take(1024, 2048))).toEqual(values.subarray(1024, 3072))
  })
})

describe('one scale for a whole tensor', () => {
  it.each(['int8', 'int4'])('makes the same %s on several threads', async (method) => {
    const pool = fakePool(3, workerJobs)
    const count = 20_000_001
    const tensor = tensorOf('f32', [count], payloadIn(floats(count, 4)))
    for (const domain of ['weights', 'activations'] as const) {
      const alone = await readPayload(quantizeTensor(tensor, method, { domain }).data!)
      const shared = await readPayload(quantizeTensor(tensor, method, { domain, threads: { pool } }).data!)
      expect(Buffer.compare(shared, alone)).toBe(0)
    }
    expect(pool.started()).toBeGreaterThan(1)
    await pool.close()
  })
})

describe('bands of a matrix', () => {
  const cases = [
    ...['q8', 'q4', 'k6', 'k4', 'k3', 'k2'].map((method) => ({ shape: [600, 1000] as const, method })),
    { shape: [1100, 513] as const, method: 'k4' },
    { shape: [3, 300_001] as const, method: 'q4' },
    { shape: [3, 300_001] as const, method: 'k3' },
  ]

  it.each(cases)('make the same $method as a whole $shape', async ({ shape, method }) => {
    const pool = fakePool(3, workerJobs)
    const tensor = tensorOf('f32', shape, payloadIn(floats(shape[0] * shape[1], 11)))
    const importance = Float32Array.from({ length: shape[1] }, (_, i) => 1 + (i % 7) ** 2)
    for (const manner of [{}, { codes: 'all' }, { mode: 'reference' }, { importance }] as const) {
      const alone = await readPayload(quantizeTensor(tensor, method, manner).data!)
      for (const limits of [{}, { whole: 0 }]) {
        const banded = await readPayload(quantizeTensor(tensor, method, { ...manner, threads: { pool }, limits }).data!)
        expect(Buffer.compare(banded, alone), `${Object.keys(manner)} ${Object.keys(limits)}`).toBe(0)
      }
      for (const threads of [{}, { pool }]) {
        const { data } = quantizeTensor(tensor, method, { ...manner, threads })
        const [from, length] = [Math.floor(alone.byteLength / 50), Math.floor(alone.byteLength / 2)]
        const part = await readPayload(payloadRange(data!, from, length))
        expect(Buffer.compare(part, alone.subarray(from, from + length)), `${Object.keys(manner)}`).toBe(0)
      }
    }
    expect(pool.started()).toBeGreaterThan(1)
    await pool.close()
  })

  it('name the element that cannot be quantized, counted over all bands', async () => {
    const bytes = floats(700_000, 2)
    new DataView(bytes.buffer).setFloat32(4 * 654_321, Number.NaN, true)
    const tensor = tensorOf('f32', [700, 1000], payloadIn(bytes))
    const pool = fakePool(2, workerJobs)
    const own = await readPayload(quantizeTensor(tensor, 'q4').data!).catch((error) => error.finding)
    expect(own).toMatchObject({ code: 'write/value-range', message: expect.stringContaining('element 654321 is NaN') })
    const shared = await readPayload(quantizeTensor(tensor, 'q4', { threads: { pool } }).data!).catch(
      (error) => error.finding,
    )
    expect(shared).toEqual(own)
    await pool.close()
  })

  it('are not made of what is small', async () => {
    const pool = fakePool(2, workerJobs)
    const tensor = tensorOf('f32', [10, 100], payloadIn(floats(1000, 2)))
    await readPayload(quantizeTensor(tensor, 'q4', { threads: { pool } }).data!)
    expect(pool.started()).toBe(0)
  })
})
