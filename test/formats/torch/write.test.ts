// What is written: the bytes that torch.save makes, the structure of checkpoints, shared storages, sets of files, and nothing that a
// restricted loader refuses.
import { describe, expect, it } from 'vitest'
import { isLoadable } from '../../../src/content/torch-save/loadable.js'
import { strictReport } from '../../../src/errors/index.js'
import {
  bytesPayload,
  type ConvertOptions,
  diffModels,
  dtypeById,
  MemorySource,
  type Model,
  openModel,
  planConversion,
  planEdit,
  readPayload,
  type Tensor,
  text,
  verifySource,
} from '../../../src/kit.js'
import { type PickleDict, PickleList, PickleObject, readPickle } from '../../../src/wire/pickle/pickle.js'
import { readMemberHead, readZip, type ZipMember } from '../../../src/wire/zip/zip.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import * as craft from './build.js'

const fixture = (file: string): Promise<Model> => openModel(fixtureSource('torch', file), { from: 'torch' })

async function written(model: Model, options: Partial<ConvertOptions> = {}): Promise<Uint8Array> {
  const files = await convertToFiles(model, 'torch', { name: 'out.pt', ...options })
  return [...files.values()][0]!
}

const opened = (bytes: Uint8Array): Promise<Model> => openModel(new MemorySource(bytes, 'out.pt'))

async function membersOf(bytes: Uint8Array): Promise<Map<string, ZipMember>> {
  const source = new MemorySource(bytes, 'out.pt')
  const { members } = await readZip(source, { report: strictReport('out.pt'), maxDirectory: 1 << 24 })
  return new Map(members.map((member) => [member.name.slice(member.name.indexOf('/') + 1), member]))
}

async function pickleOf(bytes: Uint8Array): Promise<ReturnType<typeof readPickle>> {
  const member = (await membersOf(bytes)).get('data.pkl')!
  const content = await readMemberHead(new MemorySource(bytes, 'out.pt'), member, member.size)
  return readPickle(content, strictReport('out.pt'), { path: 'data.pkl' })
}

const rootOf = async (bytes: Uint8Array): Promise<PickleDict> => {
  const { value } = await pickleOf(bytes)
  return value instanceof PickleObject ? value.entries : (value as PickleDict)
}

const accepted = presentCases('torch').filter(
  ({ file, ...each }) => isAccepted({ file, ...each }) && !file.includes('/') && !file.endsWith('.json'),
)
const ofTorch = [
  'checkpoint.pt',
  'dtypes.pt',
  'parameters.pt',
  'shapes.pt',
  'strided.pt',
  'tied.pt',
  'v2-state-dict.pt',
]

describe('files that nothing was changed about', () => {
  it.each(ofTorch)('%s is copied', async (file) => {
    expect(Buffer.compare(await written(await fixture(file)), fixtureBytes('torch', file))).toBe(0)
  })

  it.each(['protocol-4.pt', 'rezipped-deflate.pt', 'state-dict-legacy.pth'])(
    '%s is not: not every loader takes it',
    async (file) => {
      const bytes = await written(await fixture(file))
      expect(isLoadable(await pickleOf(bytes))).toBe(true)
      expect((await diffModels(await fixture(file), await opened(bytes))).equal).toBe(true)
    },
  )
})

describe('files that are written again', () => {
  it.each(accepted)(
    '$file has the same content, and names nothing that restricted loaders refuse',
    async ({ file }) => {
      const model = await fixture(file)
      const bytes = await written(model, { align: 128, name: file })
      const again = await openModel(new MemorySource(bytes, file))
      expect((await diffModels(model, again)).equal).toBe(true)
      expect(isLoadable(await pickleOf(bytes))).toBe(true)
      const { findings } = await verifySource(new MemorySource(bytes, file))
      expect(findings.filter(({ severity, code }) => severity !== 'note' && !/quantized|sparse/.test(code))).toEqual([])
    },
  )

  it('have the bytes that PyTorch 2.13 writes, but for the id that it makes with its own hash', async () => {
    const theirs = fixtureBytes('torch', 'v2-state-dict.pt')
    const ours = await written(await fixture('v2-state-dict.pt'), { rewrite: true })
    expect(ours.byteLength).toBe(theirs.byteLength)
    const id = (await membersOf(theirs)).get('.data/serialization_id')!
    const isOfId = (at: number): boolean => at >= id.dataOffset && at < id.dataOffset + id.size + 8
    const isOfEntry = (at: number): boolean => at >= id.entryOffset + 16 && at < id.entryOffset + 20
    const others = [...ours].flatMap((byte, at) => (byte === theirs[at] || isOfId(at) || isOfEntry(at) ? [] : [at]))
    expect(others).toEqual([])
  })

  it('keep the storages that views share', async () => {
    const bytes = await written(await fixture('strided.pt'), { align: 128 })
    const before = [...(await membersOf(fixtureBytes('torch', 'strided.pt'))).keys()]
    const after = [...(await membersOf(bytes)).keys()]
    const storages = (names: string[]): string[] => names.filter((name) => name.startsWith('data/'))
    expect(storages(after)).toHaveLength(storages(before).length)
  })

  it('keep lists, keys and classes of a checkpoint, whatever is cast in it', async () => {
    const root = await rootOf(await written(await fixture('checkpoint.pt'), { cast: 'f16' }))
    const before = await rootOf(fixtureBytes('torch', 'checkpoint.pt'))
    const keys = (dict: PickleDict): unknown[] => [...dict.entries()].map(([key]) => key)
    expect(keys(root)).toEqual(keys(before))
    const optimizer = (dict: PickleDict): PickleDict => dict.get('optimizer') as PickleDict
    expect(keys(optimizer(root))).toEqual(keys(optimizer(before)))
    expect(optimizer(root).get('param_groups')).toBeInstanceOf(PickleList)
    expect([...(optimizer(root).get('state') as PickleDict).entries()].map(([key]) => typeof key)).toContain('bigint')
  })

  it('keep keys whose names meet apart', async () => {
    const weight = (key: string) => craft.tensor(craft.storage(key, 'torch FloatStorage', 2), [2])
    const zero = [...craft.int(0), ...weight('2'), 0x73]
    const nested = craft.dict({ 'a.b': weight('0'), a: craft.dict({ b: weight('1') }), z: weight('3') })
    const values = craft.dict({ 'c.d': craft.int(1), c: craft.dict({ d: craft.int(2) }) })
    const storages = { '0': [1, 2], '1': [3, 4], '2': [5, 6], '3': [7, 8] }
    const bytes = Object.entries(storages).map(([key, of]) => [key, new Uint8Array(Float32Array.from(of).buffer)])
    const model = await opened(
      craft.archive([...craft.dict({ n: nested, values }), ...zero], Object.fromEntries(bytes)),
    )
    for (const options of [{ align: 128 }, { cast: 'f64' }]) {
      const root = await rootOf(await written(model, options))
      const inner = root.get('n') as PickleDict
      expect([...root.entries()].map(([key]) => key)).toEqual(['n', 'values', 0n])
      expect([...inner.entries()].map(([key]) => key)).toEqual(['a.b', 'a', 'z'])
      const again = await opened(await written(model, options))
      expect(again.tensors.map(({ name }) => name)).toEqual(['n.a.b', 'n.a.b~2', 'n.z', '0'])
      expect(Object.fromEntries(again.metadata)).toEqual(Object.fromEntries(model.metadata))
      for (const [i, { data }] of again.tensors.entries()) {
        const bytes = await readPayload(data!)
        const values = bytes.byteLength === 8 ? new Float32Array(bytes.buffer) : new Float64Array(bytes.buffer)
        expect([...values]).toEqual(
          [
            [1, 2],
            [3, 4],
            [7, 8],
            [5, 6],
          ][i],
        )
      }
    }
  })

  it('tell the number 0 from the text "0"', async () => {
    const weight = (key: string) => craft.tensor(craft.storage(key, 'torch FloatStorage', 2), [2])
    const both = [...craft.dict({ '0': weight('0') }), ...craft.int(0), ...weight('1'), 0x73]
    const storages = { '0': new Uint8Array(8).fill(1), '1': new Uint8Array(8).fill(2) }
    const model = await opened(craft.archive(both, storages))
    const root = await rootOf(await written(model, { align: 128 }))
    expect([...root.entries()].map(([key]) => key)).toEqual(['0', 0n])
  })

  it('leave out what is not chosen, and what is left keeps its place', async () => {
    const model = await fixture('checkpoint.pt')
    const bytes = await written(model, { only: ['model.*'] })
    const again = await opened(bytes)
    expect(again.tensors.map(({ name }) => name)).toEqual(
      model.tensors.map(({ name }) => name).filter((name) => name.startsWith('model.')),
    )
    expect((await rootOf(bytes)).get('model')).toBeDefined()
  })

  it('of NumPy and of other classes become tensors and metadata', async () => {
    for (const file of ['odd-numpy.pt', 'odd-namespace.pt', 'odd-module.pt']) {
      const model = await fixture(file)
      const bytes = await written(model)
      expect(isLoadable(await pickleOf(bytes)), file).toBe(true)
      expect((await diffModels(model, await opened(bytes))).equal, file).toBe(true)
    }
  })

  it('do not hold the program of a TorchScript archive, which is called a loss', async () => {
    const { plan } = await planConversion(await fixture('odd-torchscript.pt'), 'torch', { name: 'out.pt' })
    expect(plan.loss).toBe('content')
  })
})

const f32 = (name: string, shape: readonly number[], seed = 1): Tensor => sampleTensor(name, 'f32', shape, seed)

describe('models of other formats', () => {
  it('become a dictionary of tensors and nothing else', async () => {
    const model = { ...sampleModel([f32('a.weight', [2, 3]), f32('b', [])]), metadata: new Map([['note', text('hi')]]) }
    const bytes = await written(model)
    expect([...(await rootOf(bytes)).entries()].map(([key]) => key)).toEqual(['a.weight', 'b'])
    expect((await opened(bytes)).metadata.get('note')).toEqual(text('hi'))
    expect((await membersOf(bytes)).has('extra/tare.metadata.json')).toBe(true)
  })

  it('have dictionaries where tensors have a path', async () => {
    const nested = [
      { ...f32('enc.w.x', [2]), path: ['enc', 'w.x'] },
      { ...f32('enc.b', [3]), path: ['enc', 'b'] },
      { ...f32('top', [1]), path: ['top'] },
      { ...f32('top.inner', [1]), path: ['top', 'inner'] },
    ]
    const bytes = await written(sampleModel(nested))
    const root = await rootOf(bytes)
    expect([...root.entries()].map(([key]) => key)).toEqual(['enc', 'top', 'top.inner'])
    expect([...(root.get('enc') as PickleDict).entries()].map(([key]) => key)).toEqual(['w.x', 'b'])
    expect((await opened(bytes)).tensors.map(({ name }) => name)).toEqual(nested.map(({ name }) => name))
  })

  it('without tensors are an empty dictionary, and come back as such', async () => {
    const bytes = await written(sampleModel([]))
    expect((await rootOf(bytes)).size).toBe(0)
    const again = await opened(bytes)
    expect([again.tensors.length, again.metadata.size]).toEqual([0, 0])
  })

  it('store tied tensors once, and tensors of other types with the same bytes apart', async () => {
    const { data } = f32('a', [4])
    const tied = [f32('a', [4]), f32('b', [2, 2]), sampleTensor('c', 'i32', [4])].map((each) => ({ ...each, data }))
    const bytes = await written(sampleModel(tied))
    expect([...(await membersOf(bytes)).keys()].filter((name) => name.startsWith('data/'))).toHaveLength(2)
    const again = await opened(bytes)
    expect(again.tensors[0]!.data!.origin!.offset).toBe(again.tensors[1]!.data!.origin!.offset)
  })

  const dtypes =
    `f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool c32 c64 c128 f8_e4m3 f8_e5m2 f8_e4m3fnuz f8_e5m2fnuz f8_e8m0
    f4_e2m1`.split(/\s+/)
  it.each(dtypes)('keep %s as it is, also without elements, dimensions or data', async (id) => {
    const dtype = dtypeById(id)!
    const shapes = [[2, 6], [0, 4], [1, 1, 2], ...(dtype.group.elements === 1 ? [[]] : [])]
    const tensors = shapes.map((shape, i): Tensor => {
      const bytes = new Uint8Array(dtype.byteLength(shape)!).map((_, k) => (id === 'bool' ? k % 2 : k))
      return { name: `t${i}`, dtype, shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
    })
    const declared: Tensor[] = dtype.group.elements === 1 ? [{ ...tensors[0]!, name: 'declared', data: null }] : []
    const model = sampleModel([...tensors, ...declared])
    const { plan } = await planConversion(model, 'torch', { name: 'out.pt' })
    expect([plan.loss, new Set(plan.actions.map(({ action }) => action))]).toEqual(['none', new Set(['copy'])])
    const again = await opened(await written(model))
    for (const [i, { shape, data }] of model.tensors.entries()) {
      const read = again.tensors[i]!
      expect([read.dtype.id, read.shape]).toEqual([id, shape])
      expect(read.data && (await readPayload(read.data))).toEqual(data && (await readPayload(data)))
    }
  })

  it.each(['u8', 'i8', 'i32', 'u4'])('keep a scale and zero point in a quantized tensor of %s', async (id) => {
    const quant = { scheme: 'asymmetric' as const, scales: [0.25], zeroPoints: [3] }
    const model = sampleModel([{ ...sampleTensor('q', id, [3, 3]), quant }])
    expect((await planConversion(model, 'torch', { name: 'out.pt' })).plan.loss).toBe('none')
    const again = await opened(await written(model))
    expect(again.tensors[0]).toMatchObject({ quant, shape: [3, 3], dtype: { id } })
    expect(await readPayload(again.tensors[0]!.data!)).toEqual(await readPayload(model.tensors[0]!.data!))
    expect(again.metadata.size).toBe(0)
  })

  it('keep their data on multiples of 64, or of what is asked for', async () => {
    const model = sampleModel([f32('a', [3]), f32('b', [5])])
    for (const align of [undefined, 64, 4096]) {
      const members = await membersOf(await written(model, { align }))
      for (const { dataOffset } of members.values()) expect(dataOffset % (align ?? 64)).toBe(0)
    }
    await expect(written(model, { align: 65_536 })).rejects.toMatchObject({ code: 'usage/option' })
  })

  it('become sets of files with an index, tied tensors in one of them', async () => {
    const a = f32('a', [100])
    const tensors = [a, f32('b', [100], 2), f32('c', [100], 3), { ...a, name: 'tied' }]
    const model = { ...sampleModel(tensors), metadata: new Map([['note', text('hi')]]) }
    const files = await convertToFiles(model, 'torch', { name: 'pytorch_model.bin', shardSize: 850 })
    expect([...files.keys()]).toEqual([
      'pytorch_model.bin.index.json',
      'pytorch_model-00001-of-00002.bin',
      'pytorch_model-00002-of-00002.bin',
    ])
    const { weight_map: map, metadata } = JSON.parse(
      new TextDecoder().decode(files.get('pytorch_model.bin.index.json')),
    )
    expect(map.a).toBe(map.tied)
    expect(metadata.total_size).toBe(1600)
    expect((await verifySource(sourceOf(files))).findings).toEqual([])
    expect((await diffModels(model, await openModel(sourceOf(files)))).equal).toBe(true)
  })
})

describe('edits', () => {
  it('of a value change nothing but the pickle, its checksum and the id', async () => {
    const bytes = fixtureBytes('torch', 'v2-state-dict.pt')
    const first = await written(await opened(bytes), { set: [['epoch', '3', 'i64']] })
    const model = await opened(first)
    const { patch } = await planEdit(model, { set: [['epoch', '4']] }, { name: 'out.pt' })
    expect(patch).toBeDefined()
    expect(patch!.size).toBe(first.byteLength)
    expect(patch!.patches.reduce((sum, each) => sum + each.bytes.byteLength, 0)).toBeLessThan(200)
  })

  it('of a checkpoint put new values beside the old ones, and those of a state dict into the record', async () => {
    const set: ConvertOptions['set'] = [['seed', '7', 'i64']]
    const checkpoint = await written(await fixture('checkpoint.pt'), { set })
    expect((await rootOf(checkpoint)).get('seed')).toBe(7n)
    const stateDict = await written(await fixture('state-dict.pt'), { set })
    expect((await rootOf(stateDict)).get('seed')).toBeUndefined()
    expect((await opened(stateDict)).metadata.get('seed')).toEqual({ type: 'i64', value: 7 })
  })

  it('rename tensors in their dictionaries', async () => {
    const model = await fixture('checkpoint.pt')
    const name = model.tensors.find((tensor) => tensor.name.startsWith('model.'))!.name
    const bytes = await written(model, { renameMap: new Map([[name, 'model.renamed']]) })
    expect((await opened(bytes)).tensors.map((tensor) => tensor.name)).toContain('model.renamed')
    const dict = (await rootOf(bytes)).get('model')
    const entries = dict instanceof PickleObject ? dict.entries : (dict as PickleDict)
    expect(entries.get('renamed')).toBeDefined()
  })
})
