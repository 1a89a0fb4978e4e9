import { describe, expect, it } from 'vitest'
import { MemorySink, MemorySource } from '../../src/bytes/index.js'
import { planConversion } from '../../src/convert/plan.js'
import { runConversion } from '../../src/convert/run.js'
import { f32 } from '../../src/dtypes/index.js'
import { formats, openModel } from '../../src/formats/index.js'
import { bytesPayload, fileLength, type Model, slotLength, type Tensor } from '../../src/model/index.js'

/** More tensors than become bytes together in any header. */
const count = 5000

const model: Model = {
  format: 'memory',
  metadata: new Map(),
  tensors: Array.from(
    { length: count },
    (_, i): Tensor => ({
      name: `layers.${i}.w`,
      dtype: f32,
      shape: [1 + (i % 5)],
      order: 'row',
      role: 'weight',
      data: bytesPayload(new Uint8Array(4 + 4 * (i % 5)).fill(i % 100)),
    }),
  ),
  parts: [],
  files: [],
}

describe('slots that are made on the way', () => {
  const targets = ['safetensors', 'gguf', 'oinf', 'mcf', 'embd', 'primitiv', 'aero', 'npz']
  it.each(targets)('are the same each time, and make a file that reads back: %s', async (target) => {
    expect(formats.some(({ id }) => id === target)).toBe(true)
    const conversion = await planConversion(model, target, { name: 'out' })
    const [file] = conversion.layout.files
    const told = (): unknown[] => Array.from(file!.slots, (slot) => [slot.kind, slot.path, slotLength(slot)])
    expect(told()).toEqual(told())
    for (const slot of file!.slots) if (slot.kind === 'bytes') expect(slot.bytes.byteLength).toBe(slotLength(slot))
    const sink = new MemorySink('out')
    await runConversion(conversion, async () => sink)
    expect(sink.position).toBe(fileLength(file!))
    const { tensors } = await openModel(new MemorySource(sink.bytes, 'out'), { from: target })
    expect(new Set(tensors.map(({ name }) => name)).size).toBe(count)
  })
})
