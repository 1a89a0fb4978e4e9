import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { safetensors } from '../../../src/formats/safetensors/index.js'
import { diffModels, hashModel, MemorySource, openModel, planConversion, text, verifySource } from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

function file(header: string, data: Uint8Array = new Uint8Array()): Uint8Array {
  const json = new TextEncoder().encode(header)
  const bytes = new Uint8Array(8 + json.byteLength + data.byteLength)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.byteLength), true)
  bytes.set(json, 8)
  bytes.set(data, 8 + json.byteLength)
  return bytes
}

async function codesOf(bytes: Uint8Array): Promise<string[]> {
  const { findings } = await verifySource(new MemorySource(bytes, 'x.safetensors'))
  return findings.filter((finding) => finding.severity !== 'note').map((finding) => finding.code)
}

describe('writing', () => {
  // Files with several metadata keys are left out: the library writes those in random order, tare sorts them.
  it.each([
    'dtypes-common',
    'dtypes-rare',
    'f8-all-codes',
    'scalars',
    'empty-tensors',
    'empty-file',
    'names-unicode',
    'many-500',
  ])('%s comes out as the library wrote it', async (name) => {
    const original = fixtureBytes('safetensors', `${name}.safetensors`)
    const model = await openModel(fixtureSource('safetensors', `${name}.safetensors`))
    const [written] = (await convertToFiles(model, 'safetensors')).values()
    expect(Buffer.compare(written!, original)).toBe(0)
  })

  it('keeps any model', async () => {
    const name = fc.string({ unit: 'grapheme', minLength: 0, maxLength: 12 }).filter((each) => each !== '__metadata__')
    const dtype = fc.constantFrom('f32', 'bf16', 'i64', 'u8', 'bool', 'f8_e4m3', 'c64', 'f64')
    const shape = fc.array(fc.nat(4), { maxLength: 3 })
    const tensors = fc.uniqueArray(fc.record({ name, dtype, shape }), { selector: (each) => each.name, maxLength: 8 })
    const metadata = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })))
    await fc.assert(
      fc.asyncProperty(tensors, metadata, async (rows, pairs) => {
        const made = rows.map((row, i) => sampleTensor(row.name, row.dtype, row.shape, i + 1))
        const model = sampleModel(made, new Map(pairs.map(([key, value]) => [key, text(value)])))
        const back = await openModel(sourceOf(await convertToFiles(model, 'safetensors')))
        expect((await hashModel(back)).fingerprint).toBe((await hashModel(model)).fingerprint)
        expect(new Map(back.metadata)).toEqual(new Map(model.metadata))
      }),
      { numRuns: 60 },
    )
  })

  it('writes a sharded set that reads back as one model', async () => {
    const tensors = Array.from({ length: 10 }, (_, i) => sampleTensor(`__proto__.${i}`, 'f32', [8, 8], i + 1))
    const model = sampleModel(tensors, new Map([['format', text('pt')]]))
    const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', shardSize: 600 })
    expect([...files.keys()]).toEqual([
      'model.safetensors.index.json',
      'model-00001-of-00005.safetensors',
      'model-00002-of-00005.safetensors',
      'model-00003-of-00005.safetensors',
      'model-00004-of-00005.safetensors',
      'model-00005-of-00005.safetensors',
    ])
    const source = sourceOf(files)
    expect(await verifySource(source)).toMatchObject({ verdict: 'ok', format: 'safetensors' })
    const back = await openModel(sourceOf(files))
    expect(back.variant).toBe('sharded')
    expect(back.metadata.get('format')).toEqual(text('pt'))
    expect((await hashModel(back)).fingerprint).toBe((await hashModel(model)).fingerprint)
  })

  it('keeps what the index of a set says about itself, in a set and in one file', async () => {
    const tensors = ['a', 'b'].map((name, i) => sampleTensor(name, 'f32', [8], i + 1))
    const set = await convertToFiles(sampleModel(tensors), 'safetensors', { name: 'm.safetensors', shardSize: 32 })
    const told = { total_size: 64, by: 'me', counts: [1, { __proto__: 2 }], großes: '9007199254740993' }
    const index = JSON.parse(new TextDecoder().decode(set.get('m.safetensors.index.json')))
    set.set('m.safetensors.index.json', new TextEncoder().encode(JSON.stringify({ ...index, metadata: told })))
    const model = await openModel(sourceOf(set))
    expect(model.parts).toMatchObject([{ kind: 'safetensors.index-metadata', value: { by: 'me' } }])
    for (const away of ['safetensors', 'gguf', 'npz', 'mcf']) {
      const { plan } = await planConversion(model, away, { name: `m.${away}` })
      const carried = await openModel(sourceOf(await convertToFiles(model, away, { name: `m.${away}` })))
      expect([plan.loss, (await diffModels(model, carried)).equal], away).toEqual(['none', true])
      const back = await convertToFiles(carried, 'safetensors', { name: 'm.safetensors', shardSize: 32 })
      const again = JSON.parse(new TextDecoder().decode(back.get('m.safetensors.index.json')))
      expect(again.metadata).toEqual(told)
    }
  })

  it('takes an entry of another kind under the key for the metadata of an index for what it is', async () => {
    for (const own of ['text', '[1]', '{"a":1', `${'['.repeat(1000)}${']'.repeat(1000)}`]) {
      const header = JSON.stringify({ __metadata__: { 'tare.index_metadata': own } })
      const model = await openModel(new MemorySource(file(header), 'x.safetensors'))
      expect([model.metadata.get('tare.index_metadata'), model.parts]).toEqual([text(own), []])
      const again = await openModel(sourceOf(await convertToFiles(model, 'safetensors')))
      expect((await diffModels(model, again)).equal).toBe(true)
    }
  })

  it('refuses what it cannot hold, by name', async () => {
    const empty = { ...sampleTensor('a', 'u8', [1]), data: null }
    const { plan } = await planConversion(sampleModel([empty]), 'safetensors', { name: 'x', stow: false })
    expect(plan.loss).toBe('content')
    const reason = 'safetensors cannot declare a tensor without data'
    expect(plan.actions.at(0)).toMatchObject({ action: 'drop', name: 'a', reason })
  })

  it.each<[string, number[], boolean]>([
    ['f6_e3m2', [3], false],
    ['f6_e2m3', [5, 1], false],
    ['f6_e2m3', [2, 2], true],
    ['f4_e2m1', [3, 5], false],
    ['f4_e2m1', [3, 2], true],
    ['f4_e2m1', [7, 0], true],
    ['u8', [3], true],
  ])('writes %s of %j as it is only when it fills whole bytes: %s', async (dtype, shape, isWritten) => {
    const model = sampleModel([sampleTensor('a', dtype, shape)])
    const fit = safetensors.capabilities.write!.tensor(model.tensors.at(0)!)
    expect(fit.fits).toBe(isWritten)
    if (!isWritten) expect(fit.reason).toContain('must fill whole bytes')
    const { verdict, findings } = await verifySource(
      sourceOf(await convertToFiles(model, 'safetensors', { name: 'x' })),
    )
    expect(verdict, JSON.stringify(findings)).toBe('ok')
  })
})

describe('reading', () => {
  it('puts duplicates of every kind at their byte', async () => {
    const entry = '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    const bytes = file(`{"é":${entry},"é":${entry}}`, new Uint8Array(1))
    const { findings } = await verifySource(new MemorySource(bytes, 'x.safetensors'))
    const duplicate = findings.find((finding) => finding.code === 'safetensors/duplicate-name')
    expect(duplicate).toMatchObject({ offset: 8 + 1 + 5 + entry.length, path: 'header["é"]' })
    expect(duplicate!.message).toContain('0x9')
  })

  it.each([
    ['{"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 'safetensors/field-twice'],
    ['{"__metadata__":{},"__metadata__":{}}', 'safetensors/metadata-twice'],
    ['{"a":{"dtype":"U8","shape":[9007199254740992],"data_offsets":[0,1]}}', 'safetensors/shape-overflow'],
    ['{"a":{"dtype":"U8","shape":[0,9007199254740993],"data_offsets":[0,0]}}', 'safetensors/shape-overflow'],
    [`{"a":{"dtype":"U8","shape":[0,${'9'.repeat(400)}],"data_offsets":[0,0]}}`, 'safetensors/shape-overflow'],
    ['{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,18446744073709551616]}}', 'safetensors/past-end'],
    ['{"a":{"dtype":3,"shape":[1],"data_offsets":[0,1]}}', 'safetensors/dtype'],
    ['{"a":{"dtype":"U8","shape":{"x":[1,{"y":2}]},"data_offsets":[0,1]}}', 'safetensors/shape'],
    ['{"a":[]}', 'safetensors/entry-type'],
    ['{"a":{}}', 'safetensors/field-missing'],
  ])('%s gives %s', async (header, code) => {
    expect(await codesOf(file(header, new Uint8Array(1)))).toContain(code)
  })

  it('finds a tensor without a name', async () => {
    const bytes = file('{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', new Uint8Array(1))
    expect(await codesOf(bytes)).toEqual(['safetensors/name-empty'])
    expect((await openModel(new MemorySource(bytes, 'x.safetensors'))).tensors.at(0)!.name).toBe('')
  })

  it('finds a boolean that is neither', async () => {
    const bytes = file('{"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}', new Uint8Array([0, 1, 2]))
    expect(await codesOf(bytes)).toEqual(['verify/bool-value'])
  })

  it('is linear in the number of tensors, also when all of them are wrong', async () => {
    const entries = Array.from({ length: 20_000 }, () => '"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}')
    const { findings } = await verifySource(
      new MemorySource(file(`{${entries.join(',')}}`, new Uint8Array(1)), 'x.safetensors'),
    )
    expect(findings.length).toBeGreaterThan(50)
    expect(findings.length).toBeLessThan(25_000)
  })

  it('tells the common wrong contents by name', async () => {
    const texts = [
      'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
      '<!DOCTYPE html><html></html>',
      '',
    ]
    const codes = await Promise.all(texts.map((each) => codesOf(new TextEncoder().encode(each))))
    expect(codes).toEqual([['open/git-lfs-pointer'], ['open/html'], ['open/empty']])
  })

  it('a header of 123 bytes is no index', async () => {
    const header = '{"weight_map":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'.padEnd(123)
    expect(await codesOf(file(header, new Uint8Array(1)))).toEqual([])
  })
})

it.each([
  [['model.safetensors', 'model.fp16.safetensors'], 'model.safetensors'],
  [
    ['model.safetensors', 'model.fp16.safetensors.index.json', 'model.fp16-00001-of-00002.safetensors'],
    'model.safetensors',
  ],
  [['model.safetensors.index.json', 'model.fp16.safetensors.index.json'], 'model.safetensors.index.json'],
  [['unet.safetensors.index.json', 'a-1.safetensors', 'a-2.safetensors'], 'unet.safetensors.index.json'],
  [['adapter_model.safetensors'], 'adapter_model.safetensors'],
  [['a.safetensors', 'b.safetensors'], undefined],
])('of %j it opens %s', (names, main) => expect(safetensors.mainFile!(names)).toBe(main))

describe('a set in folders', () => {
  const shard = file('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', Uint8Array.of(7))
  const set = (path: string, files: ReadonlyMap<string, Uint8Array>): MemorySource => {
    const index = JSON.stringify({ metadata: { total_size: 1 }, weight_map: { a: path } })
    return new MemorySource(new TextEncoder().encode(index), 'model.safetensors.index.json', files)
  }

  it.each(['m-00001.safetensors', 'sub/m-00001.safetensors', 'a/b/ü.safetensors'])('opens %s', async (path) => {
    const files = new Map([[path, shard]])
    expect(await verifySource(set(path, files))).toMatchObject({ verdict: 'ok', checked: { tensors: 1 } })
    const { tensors } = await openModel(set(path, files))
    expect(await tensors.at(0)!.data!.read!(0, 1)).toEqual(Uint8Array.of(7))
  })

  it.each([
    '../m.safetensors',
    'sub/../m.safetensors',
    'sub/../../m.safetensors',
    '/m.safetensors',
    'sub//m.safetensors',
    './m.safetensors',
    'sub\\m.safetensors',
    'C:m.safetensors',
    'http://127.0.0.1/m.safetensors',
    '',
  ])('never opens %j', async (path) => {
    const files = new Map([[path, shard]])
    await expect(openModel(set(path, files))).rejects.toMatchObject({ code: 'safetensors/shard-path' })
    const { findings } = await verifySource(set(path, files))
    expect(findings.map(({ code }) => code)).toContain('safetensors/shard-path')
  })
})
