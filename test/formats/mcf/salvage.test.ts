// Cut files: the directory is last and the index nearly so, so it depends on the place of the cut what can be found again.
import { describe, expect, test } from 'vitest'
import { hashModel, MemorySink, MemorySource, openModel, planRepair, text, writeLayout } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { fixtureBytes } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const names = ['alpha', 'beta', 'gamma', 'delta.which.has.a.long.name']
const sample = sampleModel(
  names.map((name, i) => sampleTensor(name, 'f32', [10 + i, 7], i + 1)),
  new Map([['author', text('somebody')]]),
)

const make = async (): Promise<Uint8Array> => [...(await convertToFiles(sample, 'mcf')).values()][0]!

const sectionOf = (bytes: Uint8Array, type: number): { offset: number; size: number } => {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let at = Number(view.getBigUint64(16, true)); ; at += 24) {
    if (view.getUint32(at, true) !== type) continue
    return { offset: Number(view.getBigUint64(at + 8, true)), size: Number(view.getBigUint64(at + 16, true)) }
  }
}

async function save(bytes: Uint8Array) {
  const planned = await planRepair(new MemorySource(bytes, 'm.mcf'), { name: 'out.mcf' })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (name) => new MemorySink(name, files))
  const model = await openModel(new MemorySource(files.get('out.mcf')!, 'out.mcf'))
  return { model, lost: planned.salvage!.lost, names: model.tensors.map(({ name }) => name).sort() }
}

async function expectSame(model: Awaited<ReturnType<typeof openModel>>): Promise<void> {
  const whole = new Map((await hashModel(sample)).tensors.map(({ name, digest }) => [name, digest]))
  for (const { name, digest } of (await hashModel(model)).tensors) expect(digest, name).toBe(whole.get(name))
}

describe('a cut', () => {
  test('through the directory costs what its last entries list', async () => {
    const bytes = await make()
    const { model, lost, names: saved } = await save(bytes.subarray(0, -1))
    await expectSame(model)
    expect(saved).toEqual(names.toSorted())
    // TensorData is the last entry; where it is follows from the index.
    expect(lost).toEqual([])
    expect(model.metadata.get('author')).toEqual(text('somebody'))
  })

  test('through the first entry of the directory costs the metadata', async () => {
    const bytes = await make()
    const index = sectionOf(bytes, 3)
    const { model, lost, names: saved } = await save(bytes.subarray(0, index.offset + index.size))
    await expectSame(model)
    expect(saved).toEqual(names.toSorted())
    expect(lost).toEqual([{ subject: 'part', reason: expect.stringContaining('a section besides the tensors') }])
    expect(model.metadata.size).toBe(0)
  })

  test('through the names of the index costs the tensors whose names are cut', async () => {
    const bytes = await make()
    const index = sectionOf(bytes, 3)
    const { model, lost, names: saved } = await save(bytes.subarray(0, index.offset + index.size - 3))
    await expectSame(model)
    expect(saved).toEqual(['alpha', 'beta', 'delta.which.has.a.long.name'])
    expect(lost).toContainEqual({ subject: 'tensor', length: 12 * 7 * 4, reason: 'its name is cut off' })
  })

  test.each([
    ['the entries of the index', (bytes: Uint8Array) => sectionOf(bytes, 3).offset + 100],
    ['the weights', (bytes: Uint8Array) => sectionOf(bytes, 4).offset + 300],
  ])('through %s leaves nothing, and says why', async (_where, place) => {
    const bytes = await make()
    const cut = new MemorySource(bytes.subarray(0, place(bytes)), 'm.mcf')
    await expect(planRepair(cut, { name: 'out.mcf' })).rejects.toMatchObject({
      code: 'write/nothing-to-repair',
      message: expect.stringContaining('their names, types and shapes are gone'),
    })
  })

  test('through weights that lie last costs those behind it', async () => {
    const file = fixtureBytes('mcf', 'layout-dir-first.mcf')
    const whole = await openModel(new MemorySource(file, 'm.mcf'))
    const ends = whole.tensors.map(({ name, data }) => ({ name, end: data!.origin!.offset + data!.byteLength }))
    const last = ends.reduce((a, b) => (a.end > b.end ? a : b))
    const directory = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(16, true))
    expect(directory).toBeLessThan(last.end)
    const isIndexBehind = sectionOf(file, 3).offset > last.end
    const saving = save(file.subarray(0, last.end - 1))
    if (isIndexBehind) await expect(saving).rejects.toMatchObject({ code: 'write/nothing-to-repair' })
    else {
      const { names: saved, lost } = await saving
      expect(saved).toEqual(ends.flatMap(({ name }) => (name === last.name ? [] : [name])).sort())
      expect(lost.map(({ name }) => name)).toContain(last.name)
    }
  })

  test('with index and directory in front, every whole tensor is saved', async () => {
    const file = fixtureBytes('mcf', 'layout-index-first-data-last.mcf')
    const whole = await openModel(new MemorySource(file, 'm.mcf'))
    const digests = new Map((await hashModel(whole)).tensors.map(({ name, digest }) => [name, digest]))
    const ends = whole.tensors.map(({ name, data }) => ({ name, end: data!.origin!.offset + data!.byteLength }))
    const [first] = ends.toSorted((a, b) => a.end - b.end)
    const { model, names: saved, lost } = await save(file.subarray(0, first!.end))
    expect(saved).toEqual([first!.name])
    expect(lost.filter(({ subject }) => subject === 'tensor').map(({ name }) => name)).toEqual(
      expect.arrayContaining(ends.filter(({ end }) => end > first!.end).map(({ name }) => name)),
    )
    for (const { name, digest } of (await hashModel(model)).tensors) expect(digest).toBe(digests.get(name))
  })
})
