// What the estimate of memory goes by. Whether it is enough is tested with the command itself.
import { describe, expect, it } from 'vitest'
import {
  type ConvertOptions,
  lazyPayload,
  MemorySource,
  type Model,
  planConversion,
  type Tensor,
  type WorkerPool,
} from '../../src/kit.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const mebi = 2 ** 20

/** A tensor of any size, whose bytes nobody reads here. */
function large(shape: readonly number[], canSeek: boolean): Tensor {
  const data = lazyPayload(4 * shape.reduce((a, b) => a * b, 1), async function* () {})
  const read = async () => new Uint8Array()
  return { ...sampleTensor('w', 'f32', [1]), shape, data: canSeek ? { ...data, read } : data }
}

const peak = async (model: Model, target: string, options: Partial<ConvertOptions> = {}): Promise<number> =>
  (await planConversion(model, target, { name: 'out', ...options })).plan.peakMemory

describe('the memory that a plan foresees', () => {
  it('does not grow with the weights', async () => {
    const [some, much] = [large([64, 1024], true), large([1 << 20, 1024], true)].map((tensor) => sampleModel([tensor]))
    for (const options of [{}, { cast: 'f16' }]) {
      const more = (await peak(much!, 'safetensors', options)) - (await peak(some!, 'safetensors', options))
      expect(more).toBeLessThan(100) // the digits of larger numbers in the header
    }
  })

  it('counts what must be held together', async () => {
    const model = sampleModel([large([8192, 1024], true)])
    const copy = await peak(model, 'safetensors')
    expect(await peak(model, 'safetensors', { cast: 'f16' })).toBeGreaterThan(copy)
    // A band of the matrix, and the parts of it that are being read.
    expect(await peak(model, 'primitiv')).toBeGreaterThan(copy + 16 * mebi)
    // A payload that can only be read from its beginning is kept to be turned.
    const stream = sampleModel([large([8192, 1024], false)])
    expect((await peak(stream, 'primitiv')) - (await peak(model, 'primitiv'))).toBe(32 * mebi)
    const quantized = await peak(model, 'mcf', { quantize: { method: 'q8', scan: false } })
    expect(quantized).toBeGreaterThan((await peak(model, 'mcf')) + 8 * mebi)
  })

  it('counts indexes, and threads where there is work for them', async () => {
    const few = sampleModel([sampleTensor('a', 'f32', [1])])
    const many = sampleModel(Array.from({ length: 1000 }, (_, i) => sampleTensor(`t${i}`, 'f32', [1])))
    expect(await peak(many, 'gguf')).toBeGreaterThan((await peak(few, 'gguf')) + 1000 * 1024)
    const indexed = { ...few, files: [new MemorySource(new Uint8Array(mebi), 'x')] }
    expect((await peak(indexed, 'gguf')) - (await peak(few, 'gguf'))).toBe(4 * mebi)
    const pool = { threads: 3, startCost: 1e6 } as WorkerPool
    const model = sampleModel([large([8192, 1024], true)])
    const cast = { cast: 'f16' }
    const [alone, together] = [
      await peak(model, 'safetensors', cast),
      await peak(model, 'safetensors', { ...cast, pool }),
    ]
    expect(together).toBeGreaterThan(alone + 3 * 16 * mebi)
    expect(await peak(few, 'safetensors', { ...cast, pool })).toBe(await peak(few, 'safetensors', cast))
    expect(await peak(model, 'safetensors', { pool })).toBe(await peak(model, 'safetensors'))
  })
})
