// Files of every format that can be written, cut at many places: repair saves exactly the tensors that are whole, lists the others, and
// what it writes is in order.
import { describe, expect, it } from 'vitest'
import {
  formats,
  hashModel,
  MemorySink,
  MemorySource,
  type Model,
  openModel,
  planRepair,
  stowageKey,
  TareError,
  text,
  verifySource,
  writeLayout,
} from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureSource } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const shapes = [[4, 16], [3], [2, 2, 8], [64], [1, 5], [7, 9]]
const tensors = shapes.map((shape, i) => sampleTensor(`layer.${i}.weight`, 'f32', shape, i + 1))
const model = sampleModel(tensors, new Map([['author', text('somebody')]]))

async function digestsOf(given: Model): Promise<Map<string, string | null>> {
  const { tensors } = await hashModel(given, { algorithm: 'crc32' })
  return new Map(tensors.map(({ name, digest }) => [name, digest]))
}

async function repairBytes(bytes: Uint8Array, name: string, output = name) {
  const planned = await planRepair(new MemorySource(bytes, name), { name: output })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (each) => new MemorySink(each, files))
  return { planned, files: new Map([[output, files.get(output)!], ...files]) }
}

function cutsOf(size: number): number[] {
  const count = 60
  const even = Array.from({ length: count }, (_, i) => Math.floor((i * size) / count))
  return [...new Set([...even, size - 1, size - 2, size - 9, size - 40])].filter((cut) => cut > 0 && cut < size)
}

/** The index lies behind the weights: before it is there, nothing can be found, and when it is cut, only what its first entries list. */
const indexLast = new Set(['mcf', 'aero'])
const single = formats.filter(({ capabilities: { write } }) => write?.tensor(tensors[0]!).fits)

describe.each(single.filter(({ id }) => id !== 'aeroset').map(({ id }) => id))('%s, cut anywhere', (id) => {
  it('gives back what is whole', async () => {
    const format = single.find((each) => each.id === id)!
    const only = format.capabilities.write?.maxTensors === 1 ? [tensors[0]!.name] : undefined
    const files = await convertToFiles(model, id, { name: `m${format.extensions[0]}`, only })
    const [name, bytes] = [...files][0]!
    const original = await openModel(sourceOf(files))
    const whole = await digestsOf(original)
    let saved = 0
    for (const end of cutsOf(bytes.byteLength)) {
      const there = original.tensors.filter(({ data }) => data!.origin!.offset + data!.byteLength <= end)
      const expected = there.map((tensor) => tensor.name).sort()
      let repaired: Awaited<ReturnType<typeof repairBytes>>
      try {
        repaired = await repairBytes(bytes.subarray(0, end), name)
      } catch (error) {
        expect(error, `cut at ${end}`).toBeInstanceOf(TareError)
        expect((error as TareError).code, `cut at ${end}: ${(error as Error).message}`).toBe('write/nothing-to-repair')
        if (!indexLast.has(id)) expect(expected, `cut at ${end}: ${(error as Error).message}`).toEqual([])
        continue
      }
      saved++
      const { planned } = repaired
      const result = await verifySource(sourceOf(repaired.files))
      expect(
        result.findings.filter(({ severity }) => severity === 'error'),
        `cut at ${end}`,
      ).toEqual([])
      const digests = await digestsOf(await openModel(sourceOf(repaired.files)))
      if (indexLast.has(id)) expect(expected, `cut at ${end}`).toEqual(expect.arrayContaining([...digests.keys()]))
      else expect([...digests.keys()].sort(), `cut at ${end}`).toEqual(expected)
      for (const [tensor, digest] of digests) expect(digest, `${tensor}, cut at ${end}`).toBe(whole.get(tensor))
      if (!planned.salvage) continue
      const named = planned.salvage.lost.filter(({ subject }) => subject === 'tensor')
      const missing = original.tensors.filter((tensor) => !digests.has(tensor.name))
      if (missing.length > 0) expect(named.length, `cut at ${end}`).toBeGreaterThan(0)
      for (const { name: lost, length } of named) {
        if (lost === undefined || length === undefined) continue
        const tensor = missing.find((each) => each.name === lost)
        expect(tensor, `${lost}, cut at ${end}`).toBeDefined()
        expect(length, `${lost}, cut at ${end}`).toBe(tensor!.data!.byteLength)
      }
    }
    if (!only && !indexLast.has(id)) expect(saved).toBeGreaterThan(10)
  })
})

describe('a damaged container that carries something', () => {
  it('carries the same when it is repaired', async () => {
    const stowage = text(JSON.stringify({ version: 1, from: { format: 'safetensors' } }))
    const own = await openModel(fixtureSource('aero', 'valid/extra-keys.aero'))
    const metadata = new Map([...own.metadata, [stowageKey, stowage]])
    const carrying = { ...own, metadata, tensors: [...own.tensors, sampleTensor('last', 'u8', [64])] }
    const [bytes] = (await convertToFiles(carrying, 'aero', { stow: false, name: 'm.aero' })).values()
    const { tensors } = await openModel(new MemorySource(bytes!, 'm.aero'))
    bytes![tensors.at(-1)!.data!.origin!.offset]! ^= 1
    const { planned, files } = await repairBytes(bytes!, 'm.aero')
    expect(planned.salvage?.lost.map(({ name }) => name)).toEqual(['last'])
    const repaired = await openModel(sourceOf(files))
    expect(repaired.tensors.map(({ extra }) => extra)).toEqual(tensors.slice(0, -1).map(({ extra }) => extra))
    expect(repaired.metadata.get(stowageKey)).toEqual(stowage)
  })
})
