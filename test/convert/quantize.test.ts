import { describe, expect, it } from 'vitest'
import { filePart } from '../../src/content/companions.js'
import { planQuantization, type QuantizationOptions } from '../../src/convert/quantize.js'
import { modelQuality } from '../../src/inspect/quality.js'
import { bytesPayload, MemorySink, MemorySource, type Model, openModel, runConversion } from '../../src/kit.js'
import { fixtureBytes, fixtureSource } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const quantized = async (model: Model, options: Omit<QuantizationOptions, 'name'>): Promise<Model> =>
  openModel(new MemorySource(await quantizedFile(model, options), 'out.mcf'))

async function quantizedFile(model: Model, options: Omit<QuantizationOptions, 'name'>): Promise<Uint8Array> {
  const conversion = await planQuantization(model, 'mcf', { name: 'out.mcf', ...options })
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (name) => new MemorySink(name, files))
  const bytes = files.get('out.mcf')!
  expect(bytes.byteLength).toBe(conversion.plan.size)
  return bytes
}

const methods = ['q8', 'q4', 'k6', 'k4', 'k3', 'k2'] as const

describe('quantizing a model', () => {
  it.each([
    ...methods.map((method) => ['quant-src.mcf', method, `quant-${method}.mcf`, undefined] as const),
    ...methods.map((method) => ['quant-edge-src.mcf', method, `quant-edge-${method}.mcf`, undefined] as const),
    ['quant-src.mcf', 'k4', 'quant-clip-k4.mcf', [-0.05, 0.08]],
    ['quant-none-src.mcf', 'k4', 'quant-none.mcf', undefined],
  ] as const)('like the reference gives its file: %s %s', async (from, method, wanted, clip) => {
    const model = await openModel(fixtureSource('mcf', from))
    const made = await quantizedFile(model, { method, mode: 'reference', clip })
    expect(Buffer.compare(made, fixtureBytes('mcf', wanted))).toBe(0)
  })

  it('like the reference gives the file that its pack and quantize commands make of a directory', async () => {
    const input = (name: string): Uint8Array => fixtureBytes('mcf', `inputs/qm/${name}`)
    const model = await openModel(new MemorySource(input('model.safetensors'), 'inputs/qm/model.safetensors'))
    const config = filePart('config.json', bytesPayload(input('config.json')))
    const made = await quantizedFile({ ...model, parts: [config] }, { method: 'k4', mode: 'reference' })
    expect(Buffer.compare(made, fixtureBytes('mcf', 'quant-k4.mcf'))).toBe(0)
  })

  const model = sampleModel([
    sampleTensor('a.weight', 'bf16', [32, 256]),
    sampleTensor('b.embed', 'bf16', [32, 256]),
    sampleTensor('c.norm', 'bf16', [256]),
  ])
  // Random bits are not all finite: make them small numbers.
  const finite: Model = {
    ...model,
    tensors: model.tensors.map((tensor) => ({
      ...tensor,
      data: {
        byteLength: tensor.data!.byteLength,
        async *chunks(window: number) {
          for await (const chunk of tensor.data!.chunks(window))
            yield chunk.map((byte, i) => (i % 2 === 1 ? 0x3c + (byte % 4) : byte))
        },
      },
    })),
  }

  it('says what it does with each tensor, and how large everything gets', async () => {
    const { plan, choices } = await planQuantization(finite, 'mcf', {
      name: 'out.mcf',
      method: 'k4',
      tensorMethod: [['*embed', 'q8']],
    })
    expect([...plan.actions]).toEqual([
      {
        subject: 'tensor',
        name: 'a.weight',
        action: 'quantize',
        loss: 'precision',
        requested: true,
        from: 'bf16',
        to: 'mcf.k4',
      },
      {
        subject: 'tensor',
        name: 'b.embed',
        action: 'quantize',
        loss: 'precision',
        requested: true,
        from: 'bf16',
        to: 'mcf.q8',
      },
      { subject: 'tensor', name: 'c.norm', action: 'copy', loss: 'none' },
    ])
    expect([plan.loss, plan.unrequestedLoss]).toEqual(['precision', 'none'])
    expect(choices.map(({ name, method, sizeAfter }) => [name, method, sizeAfter])).toEqual([
      ['a.weight', 'mcf.k4', 64 + 256 + 4096],
      ['b.embed', 'mcf.q8', 512 + 8192],
      ['c.norm', undefined, 512],
    ])
    const unread = await planQuantization(model, 'mcf', {
      name: 'out.mcf',
      method: 'k4',
      tensorMethod: [['*embed', 'q8']],
      scan: false,
    })
    expect(unread.plan.size).toBe(plan.size)
  })

  it('refuses what cannot be quantized before anything is written', async () => {
    const bad = { ...finite, tensors: [{ ...sampleTensor('n.weight', 'f32', [32, 256]), name: 'n.weight' }] }
    await expect(planQuantization(bad, 'mcf', { name: 'out.mcf', method: 'k4' })).rejects.toMatchObject({
      finding: { code: 'write/value-range', path: 'n.weight' },
    })
  })

  it('can be measured afterwards', async () => {
    const made = await quantized(finite, { method: 'q8', exclude: ['c.*'] })
    const { tensors, total } = await modelQuality(finite, made)
    expect(tensors.map(({ name }) => name)).toEqual(['a.weight', 'b.embed'])
    expect(total!.cosine).toBeGreaterThan(0.9999)
    expect(total!.snr).toBeGreaterThan(35)
  })
})
