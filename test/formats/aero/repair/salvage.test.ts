import { expect, test } from 'vitest'
import { hashModel, MemorySink, MemorySource, openModel, planRepair, writeLayout } from '../../../../src/kit.js'
import { convertToFiles } from '../../../support/convert.js'
import { fixtureBytes } from '../../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'

const names = Array.from({ length: 20 }, (_, i) => `tensor.${i}`)
const sample = sampleModel(names.map((name, i) => sampleTensor(name, 'u8', [30 + i], i + 1)))

async function save(bytes: Uint8Array) {
  const planned = await planRepair(new MemorySource(bytes, 'm.aero'), { name: 'out.aero' })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (name) => new MemorySink(name, files))
  return { model: await openModel(new MemorySource(files.get('out.aero')!, 'out.aero')), lost: planned.salvage!.lost }
}

test('a cut through the index behind the weights costs the entries behind it', async () => {
  const [bytes] = [...(await convertToFiles(sample, 'aero')).values()]
  const whole = new Map((await hashModel(sample)).tensors.map(({ name, digest }) => [name, digest]))
  const index = Buffer.from(bytes!).lastIndexOf('tensors') + 1
  const last = Buffer.from(bytes!).lastIndexOf('tensor.12')
  for (const end of [bytes!.byteLength - 1, last, last + 30, Buffer.from(bytes!).indexOf('tensor.1', index)]) {
    const { model, lost } = await save(bytes!.subarray(0, end))
    expect(model.tensors.length).toBeGreaterThan(0)
    expect(model.tensors.map(({ name }) => name)).toEqual(names.slice(0, model.tensors.length))
    for (const { name, digest } of (await hashModel(model)).tensors) expect(digest, name).toBe(whole.get(name))
    const missing = names.length - model.tensors.length
    const which = missing === 1 ? 'a tensor' : `${missing} tensors`
    expect(lost).toEqual([{ subject: 'tensor', reason: `${which} whose entries in the index are cut off` }])
  }
})

test('without its index a file says what is gone', async () => {
  const [bytes] = [...(await convertToFiles(sample, 'aero')).values()]
  const cut = bytes!.subarray(0, Buffer.from(bytes!).lastIndexOf('tensors') - 20)
  await expect(planRepair(new MemorySource(cut, 'm.aero'), { name: 'out.aero' })).rejects.toMatchObject({
    code: 'write/nothing-to-repair',
    message: expect.stringContaining('names, types and places of all tensors are gone'),
  })
})

test('a shard of which nothing is whole is not carried along', async () => {
  const [bytes] = [...(await convertToFiles(sample, 'aero', { shardSize: 100, deterministic: true })).values()]
  const model = await openModel(new MemorySource(bytes!, 'm.aero'))
  const { offset } = model.tensors.at(-1)!.data!.origin!
  const saved = await save(bytes!.subarray(0, offset + 5))
  expect(saved.lost.map(({ name }) => name)).toEqual(['tensor.19'])
  expect(saved.model.parts.filter(({ kind }) => kind === 'aero.chunk')).toEqual([])
})

test('weights behind a cut through the index are not looked for where there is something else now', async () => {
  const bytes = fixtureBytes('aero', 'valid/metadata-uncompressed.aero')
  const { tensors } = await openModel(new MemorySource(bytes, 'm.aero'))
  const start = Math.min(...tensors.map(({ data }) => data!.origin!.offset))
  for (let end = 96; end <= start; end += 7) {
    const cut = new MemorySource(bytes.subarray(0, end), 'm.aero')
    await expect(planRepair(cut, { name: 'out.aero' })).rejects.toMatchObject({ code: 'write/nothing-to-repair' })
  }
})
