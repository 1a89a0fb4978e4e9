// Models that are quantized to a size.
import { describe, expect, it } from 'vitest'
import { planQuantization } from '../../../src/convert/quantize.js'
import { bytesPayload, MemorySink, type Model, runConversion } from '../../../src/kit.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

/** Numbers that are hard to quantize in one tensor, and easy in the other. */
function modelOf(): Model {
  const values = (seed: number, spread: number): Uint8Array => {
    let state = seed
    const floats = Float32Array.from({ length: 64 * 256 }, (_, i) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0
      return (state / 2 ** 32 - 0.5) * (i % 32 === 0 ? spread : 1)
    })
    return new Uint8Array(floats.buffer)
  }
  const tensor = (name: string, data: Uint8Array) => ({
    ...sampleTensor(name, 'f32', [64, 256]),
    data: bytesPayload(data),
  })
  return sampleModel([
    tensor('hard.weight', values(1, 40)),
    tensor('easy.weight', values(2, 1)),
    tensor('more.weight', values(3, 1)),
    sampleTensor('norm.weight', 'f32', [256]),
  ])
}

const planned = (target: string, size: { readonly size: number } | { readonly bits: number }, more = {}) =>
  planQuantization(modelOf(), target, { name: `out.${target}`, method: 'q8_0', target: size, ...more })

describe('a target', () => {
  it.each(['gguf', 'mcf', 'aero'])('is met, and hardly missed: %s', async (target) => {
    const plain = await planQuantization(modelOf(), target, { name: 'x', method: target === 'mcf' ? 'q8' : 'q8_0' })
    const size = Math.floor(plain.plan.size * 0.75)
    const { plan, choices } = await planned(target, { size })
    expect(plan.size).toBeLessThanOrEqual(size)
    expect(plan.size).toBeGreaterThan(size * 0.85)
    expect(choices.at(-1)).toMatchObject({ name: 'norm.weight', reason: '1-D, not a matrix' })
  })

  it('can be an average of bits per weight', async () => {
    const { model } = await planned('gguf', { bits: 5 })
    const bytes = model.tensors.reduce((sum, { data }) => sum + data!.byteLength, 0)
    const bits = (8 * bytes) / (3 * 64 * 256 + 256)
    expect(bits).toBeLessThanOrEqual(5)
    expect(bits).toBeGreaterThan(4.4)
  })

  it('is reached in the same way every time', async () => {
    const file = async (): Promise<Uint8Array> => {
      const files = new Map<string, Uint8Array>()
      await runConversion(await planned('gguf', { bits: 4.25 }), async (name) => new MemorySink(name, files))
      return files.get('out.gguf')!
    }
    expect(Buffer.compare(await file(), await file())).toBe(0)
  })

  it('leaves methods alone that are named', async () => {
    const { choices } = await planned('gguf', { bits: 16 }, { tensorMethod: [['easy*', 'keep']] })
    expect(choices.find(({ name }) => name === 'easy.weight')?.method).toBeUndefined()
    const sized = await planned('gguf', { bits: 6 }, { tensorMethod: [['easy*', 'q8_0']] })
    expect(sized.choices.find(({ name }) => name === 'easy.weight')?.method).toBe('ggml.q8_0')
  })

  it('weighs columns by importance', async () => {
    const importance = new Map([['hard.weight', Float32Array.from({ length: 256 }, (_, i) => (i < 32 ? 1 : 0))]])
    const { choices } = await planned('gguf', { bits: 4 }, { importance })
    const plain = await planned('gguf', { bits: 4 })
    expect(choices.map(({ reason }) => reason)).not.toEqual(plain.choices.map(({ reason }) => reason))
  })

  it('that is too small is refused, with what is possible', async () => {
    await expect(planned('gguf', { bits: 1 })).rejects.toMatchObject({
      finding: {
        code: 'usage/option',
        message: expect.stringMatching(/^1 bits per weight are too few: .* 2\.\d\d$/),
      },
    })
    await expect(planned('gguf', { size: 1000 })).rejects.toMatchObject({
      finding: { code: 'usage/option', message: expect.stringContaining('1000 bytes are too few') },
    })
  })
})
