// Files with a wrong byte, and sets with a file that is missing or was cut: what is damaged is listed, and the rest is saved.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  formats,
  hashModel,
  MemorySink,
  MemorySource,
  type Model,
  openModel,
  type PlannedRepair,
  planRepair,
  text,
  verifySource,
  writeLayout,
} from '../../src/kit.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixturePath, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const names = ['first', 'second', 'third', 'fourth', 'fifth']
const sample = sampleModel(
  [
    sampleTensor('first', 'f32', [40, 8], 1),
    sampleTensor('second', 'f32', [7], 2),
    sampleTensor('third', 'f32', [30, 11], 3),
    sampleTensor('fourth', 'f32', [25, 5], 4),
    sampleTensor('fifth', 'f32', [31], 5),
  ],
  new Map([['general.architecture', text('llama')]]),
)

const digests = async (model: Model): Promise<Map<string, string | null>> =>
  new Map((await hashModel(model)).tensors.map(({ name, digest }) => [name, digest]))

interface Saved {
  readonly planned: PlannedRepair
  readonly names: readonly string[]
  readonly lost: readonly (string | undefined)[]
}

/** Repairs, and makes sure that the output is sound and that every tensor in it is one of the original's. */
async function save(source: MemorySource, whole: ReadonlyMap<string, string | null>, name: string): Promise<Saved> {
  const planned = await planRepair(source, { name })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (each) => new MemorySink(each, files))
  const output = new Map([[name, files.get(name)!], ...files])
  expect((await verifySource(sourceOf(output))).findings.filter(({ severity }) => severity === 'error')).toEqual([])
  const saved = await digests(await openModel(sourceOf(output)))
  for (const [each, digest] of saved) expect(digest, each).toBe(whole.get(each))
  expect(planned.salvage!.kept).toBe(saved.size)
  const lost = planned.salvage!.lost.filter(({ subject }) => subject === 'tensor').map((each) => each.name)
  return { planned, names: [...saved.keys()].sort(), lost }
}

describe('a wrong byte', () => {
  const hashed: readonly (readonly [string, object])[] = [
    ['aero', {}],
    ['aero', { 'page-hashes': 64 }],
    ['aero', { 'page-hashes': 4096, 'control-hash': true }],
    ['npz', {}],
    ['npz', { compress: true }],
  ]

  test.each(hashed)('in a tensor of %s with %j costs that tensor alone', async (id, extra) => {
    const bytes = [...(await convertToFiles(sample, id, { name: 'm', extra: { ...extra } })).values()][0]!
    const model = await openModel(new MemorySource(bytes, 'm'), { from: id })
    const whole = await digests(model)
    for (const { name, data } of model.tensors) {
      const damaged = bytes.slice()
      // Deflated data have no place of their own in the file; the middle of the member is found by its name.
      const at = data?.origin ? data.origin.offset + 5 : memberOf(bytes, `${name}.npy`)
      damaged[at]! ^= 0x10
      const saved = await save(new MemorySource(damaged, 'm'), whole, 'out')
      expect(saved.lost, name).toEqual([name])
      expect(saved.names, name).toEqual(names.filter((each) => each !== name).sort())
    }
  })

  test('in a part of a set costs that tensor alone', async () => {
    const name = 'model.aeroset.json'
    const files = await convertToFiles(sample, 'aeroset', { name, shardSize: 1400, extra: { 'part-shards': 1 } })
    const model = await openModel(sourceOf(files))
    const whole = await digests(model)
    for (const tensor of model.tensors.slice(0, 3)) {
      const { source, offset } = tensor.data!.origin!
      const part = source.name.replace(/^.*\//, '')
      const damaged = files.get(part)!.slice()
      damaged[offset + 1]! ^= 1
      const saved = await save(sourceOf(new Map([...files, [part, damaged]])), whole, 'out.aeroset.json')
      expect(saved.lost).toEqual([tensor.name])
      expect(saved.names).toEqual(names.filter((each) => each !== tensor.name).sort())
    }
  })

  test('in pages of AERO costs the tensors in those pages', async () => {
    const extra = { 'tensor-hashes': 'off', 'page-hashes': 512 }
    const bytes = [...(await convertToFiles(sample, 'aero', { name: 'm', extra })).values()][0]!
    const model = await openModel(new MemorySource(bytes, 'm'), { from: 'aero' })
    const damaged = bytes.slice()
    damaged[model.tensors.at(2)!.data!.origin!.offset + 700]! ^= 1
    const saved = await save(new MemorySource(damaged, 'm'), await digests(model), 'out')
    expect([saved.lost, saved.names]).toEqual([['third'], ['fifth', 'first', 'fourth', 'second']])
  })

  test('where nothing says which tensor is damaged, none is saved', async () => {
    const extra = { 'tensor-hashes': 'off' }
    const bytes = [...(await convertToFiles(sample, 'aero', { name: 'm', extra })).values()][0]!
    const model = await openModel(new MemorySource(bytes, 'm'), { from: 'aero' })
    const damaged = bytes.slice()
    damaged[model.tensors.at(2)!.data!.origin!.offset]! ^= 1
    await expect(planRepair(new MemorySource(damaged, 'm'), { name: 'out' })).rejects.toMatchObject({
      code: 'write/nothing-to-repair',
      message: expect.stringContaining('none of its tensors is complete'),
    })
  })
})

/** A place inside the data of a zip member. */
function memberOf(bytes: Uint8Array, name: string): number {
  const at = Buffer.from(bytes).indexOf(name)
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return at + name.length + view.getUint16(at - 2, true) + 40
}

describe.each(['safetensors', 'gguf', 'aeroset'])('a set of %s files', (id) => {
  const extension = formats.find((format) => format.id === id)!.extensions[0]!
  const main = `model${extension}`
  const make = async (): Promise<Map<string, Uint8Array>> =>
    convertToFiles(sample, id, { name: main, shardSize: 1400, deterministic: true, extra: { 'part-shards': 1 } })

  /** The files that hold tensors, with the names of those. */
  async function shardsOf(files: ReadonlyMap<string, Uint8Array>): Promise<Map<string, string[]>> {
    const model = await openModel(sourceOf(files))
    for (const { data } of model.tensors) await data!.read!(0, 1)
    const shards = new Map<string, string[]>()
    for (const { name, data } of model.tensors) {
      const file = data!.origin!.source.name.replace(/^.*\//, '')
      shards.set(file, [...(shards.get(file) ?? []), name])
    }
    return shards
  }

  test('without one of them', async () => {
    const files = await make()
    const whole = await digests(await openModel(sourceOf(files)))
    const shards = await shardsOf(files)
    expect(shards.size).toBeGreaterThan(2)
    for (const [file, held] of shards) {
      if (file === [...files.keys()][0]) continue
      const rest = new Map([...files].filter(([name]) => name !== file))
      const saved = await save(sourceOf(rest), whole, `out${extension}`)
      expect(saved.names, file).toEqual(names.filter((name) => !held.includes(name)).sort())
      // What is called how stands only in the file itself where there is no index.
      expect(saved.lost.toSorted(), file).toEqual(id === 'gguf' ? [undefined] : held.toSorted())
    }
  })

  test('with one that was cut', async () => {
    const files = await make()
    const whole = await digests(await openModel(sourceOf(files)))
    const [file, held] = [...(await shardsOf(files))].at(-1)!
    const cut = files.get(file)!
    const rest = new Map([...files].map(([name, bytes]) => [name, name === file ? cut.subarray(0, -10) : bytes]))
    const saved = await save(sourceOf(rest), whole, `out${extension}`)
    expect(saved.lost.every((name) => name === undefined || held.includes(name))).toBe(true)
    const missing = names.filter((name) => !saved.names.includes(name))
    expect(missing.length).toBeGreaterThan(0)
    expect(missing.every((name) => held.includes(name) && saved.lost.includes(name))).toBe(true)
  })
})

describe('a set of PyTorch files', () => {
  const folder = [
    'pytorch_model.bin.index.json',
    'pytorch_model-00001-of-00002.bin',
    'pytorch_model-00002-of-00002.bin',
  ]
  const index = presentCases('torch').find(({ file }) => file.endsWith(folder[0]!))!.file
  const filesIn = (): Map<string, Uint8Array> =>
    new Map(
      folder.map((name) => [name, new Uint8Array(readFileSync(fixturePath('torch', index).replace(folder[0]!, name)))]),
    )

  test.each([1, 2])('without file %i', async (missing) => {
    const files = filesIn()
    const model = await openModel(sourceOf(files))
    const whole = await digests(model)
    files.delete(folder[missing]!)
    const saved = await save(sourceOf(files), whole, 'out.safetensors')
    expect(saved.names.length).toBeGreaterThan(0)
    expect(saved.lost.length).toBeGreaterThan(0)
    expect([...saved.names, ...saved.lost].sort()).toEqual([...whole.keys()].sort())
  })

  test('with a storage that is cut, and one that has a wrong byte', async () => {
    const files = filesIn()
    const model = await openModel(sourceOf(files))
    const whole = await digests(model)
    const [first, second] = [files.get(folder[1]!)!.slice(), files.get(folder[2]!)!]
    const [damaged] = model.tensors.filter(({ data }) => data?.origin?.source.name === folder[1])
    first[damaged!.data!.origin!.offset]! ^= 1
    const lastStart = Math.max(
      ...model.tensors.flatMap(({ data }) => {
        const origin = data?.origin
        return origin && origin.source.name === folder[2] ? [origin.offset] : []
      }),
    )
    const cut = new Map([...files, [folder[1]!, first], [folder[2]!, second.subarray(0, lastStart + 1)]])
    const saved = await save(sourceOf(cut), whole, 'out.safetensors')
    expect(saved.lost).toContain(damaged!.name)
    expect([...new Set([...saved.names, ...saved.lost])].sort()).toEqual([...whole.keys()].sort())
    expect(saved.lost.length).toBeGreaterThanOrEqual(2)
  })
})
