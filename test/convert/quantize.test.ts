import { describe, expect, it } from 'vitest'
import { planQuantization, type QuantizationOptions } from '../../src/convert/quantize.js'
import { MemorySink, MemorySource, type Model, openModel, readPayload, runConversion } from '../../src/index.js'
import { modelQuality } from '../../src/inspect/quality.js'
import { fixtureSource } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

async function quantized(model: Model, options: Omit<QuantizationOptions, 'name'>): Promise<Model> {
  const conversion = await planQuantization(model, 'mcf', { name: 'out.mcf', ...options })
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (name) => new MemorySink(name, files))
  const bytes = files.get('out.mcf')!
  expect(bytes.byteLength).toBe(conversion.plan.size)
  return openModel(new MemorySource(bytes, 'out.mcf'))
}

const payloads = async (model: Model): Promise<Map<string, unknown>> =>
  new Map(
    await Promise.all(
      model.tensors.map(async ({ name, dtype, shape, data, extra }) => {
        return [
          name,
          { dtype: dtype.id, shape, extra, bytes: Buffer.from(await readPayload(data!)).toString('hex') },
        ] as const
      }),
    ),
  )

describe('quantizing a model', () => {
  it.each([
    ['quant-src.mcf', 'q8', 'quant-q8.mcf', undefined],
    ['quant-src.mcf', 'k3', 'quant-k3.mcf', undefined],
    ['quant-src.mcf', 'k4', 'quant-clip-k4.mcf', [-0.05, 0.08]],
    ['quant-edge-src.mcf', 'k2', 'quant-edge-k2.mcf', undefined],
  ] as const)('like the reference gives its tensors and records: %s %s', async (from, method, wanted, clip) => {
    const model = await openModel(fixtureSource('mcf', from))
    const made = await quantized(model, { method, mode: 'reference', clip })
    expect(await payloads(made)).toEqual(await payloads(await openModel(fixtureSource('mcf', wanted))))
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
    expect(plan.loss).toBe('none')
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
