import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { mcf } from '../../../../src/formats/mcf/index.js'
import { modelInfoFromConfig } from '../../../../src/formats/mcf/model-info/from-config.js'
import {
  bytesPayload,
  dtypeById,
  hashModel,
  MemorySource,
  type Model,
  openModel,
  type Part,
  readPayload,
  verifySource,
} from '../../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { fixtureBytes, fixturePath, fixtureSource } from '../../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'
import { base, inHeader } from '../build.js'

const manifest = JSON.parse(readFileSync(fixturePath('mcf', 'manifest.json'), 'utf8')) as {
  files: { file: string; origin: string }[]
}
const byReference = manifest.files.filter(({ origin }) => origin.startsWith('reference'))

async function written(model: Model, options: Parameters<typeof convertToFiles>[2] = {}): Promise<Uint8Array> {
  return [...(await convertToFiles(model, 'mcf', options)).values()][0]!
}

const reopened = (bytes: Uint8Array): Promise<Model> => openModel(new MemorySource(bytes, 'out.mcf'))

describe('MCF to MCF', () => {
  it('there are files of the reference', () => expect(byReference.length).toBeGreaterThan(25))

  it.each(byReference)('$file comes out as it was', async ({ file }) => {
    const bytes = fixtureBytes('mcf', file)
    expect(Buffer.compare(await written(await openModel(fixtureSource('mcf', file))), bytes)).toBe(0)
  })

  it('keeps unknown sections, versions, flags and files', async () => {
    const model = await openModel(fixtureSource('mcf', 'section-unknown.mcf'))
    const again = await reopened(await written(model))
    const described = ({ parts }: Model) =>
      Promise.all(
        parts
          .filter(({ data }) => data)
          .map(async ({ kind, name, value, data }) => ({ kind, name, value, bytes: [...(await readPayload(data!))] })),
      )
    expect(await described(again)).toEqual(await described(model).then((list) => expect.arrayContaining(list)))
    expect(again.parts.map(({ name }) => name)).toEqual(expect.arrayContaining(['0x7777', '0xfffffffe', 'config.json']))
    const flagged = await written(await openModel(fixtureSource('mcf', 'flags-unknown-bits.mcf')))
    const before = fixtureBytes('mcf', 'flags-unknown-bits.mcf')
    expect(flagged.subarray(inHeader('flags'), 40)).toEqual(before.subarray(inHeader('flags'), 40))
  })

  it('keeps a second section of a type, behind the first', async () => {
    const model = await openModel(fixtureSource('mcf', 'section-duplicate.mcf'))
    const config = ({ parts }: Model): Part => parts.find(({ name }) => name === 'config.json')!
    const again = await reopened(await written(model))
    expect(await readPayload(config(again).data!)).toEqual(await readPayload(config(model).data!))
    expect(again.parts.filter(({ kind }) => kind === 'mcf.section').map(({ name }) => name)).toEqual(['0x0100'])
  })

  it('moves quantization records along with their tensors', async () => {
    const model = await openModel(fixtureSource('mcf', 'quant-k3.mcf'))
    const renamed = await reopened(await written(model, { rename: ['s/^c\\.odd77$/zz/'] }))
    const extra = (name: string, { tensors }: Model) => tensors.find((tensor) => tensor.name === name)!.extra
    expect(extra('zz', renamed)).toEqual(extra('c.odd77', model))
    expect(renamed.tensors.at(-1)!.name).toBe('zz')
    expect(extra('x.vec', renamed)).toBeUndefined()
  })

  it('writes other alignments when asked', async () => {
    const model = await openModel(fixtureSource('mcf', 'plain-dtypes.mcf'))
    for (const align of [0, 1, 8, 64, 4096]) {
      const bytes = await written(model, { align })
      const { tensors } = await reopened(bytes)
      for (const { data } of tensors) expect(data!.origin!.offset % Math.max(align, 1)).toBe(0)
      expect(bytes[inHeader('flags')], `align ${align}`).toBe(align >= 64 ? 1 : 0)
      expect((await hashModel(await reopened(bytes))).fingerprint).toBe((await hashModel(model)).fingerprint)
    }
    for (const align of [3, 48, 2 ** 21, -1, 1.5])
      await expect(written(model, { align })).rejects.toThrow(/power of two/)
  })

  it('aligns quantized tensors to 64 in any case', async () => {
    const bytes = await written(await openModel(fixtureSource('mcf', 'quant-q4.mcf')), { align: 0 })
    expect((await verifySource(new MemorySource(bytes, 'out.mcf'))).verdict).toBe('ok')
    expect(bytes[inHeader('flags')]).toBe(1)
  })
})

describe('packing', () => {
  const input = (folder: string, name: string): Uint8Array => fixtureBytes('mcf', `inputs/${folder}/${name}`)
  const file = (name: string, bytes: Uint8Array): Part => ({
    kind: 'file',
    sharing: 'shared',
    name,
    value: { bytes: bytes.byteLength },
    data: bytesPayload(bytes),
  })
  /** A safetensors file as it lies in a folder of that name, with parts beside it. */
  async function packed(folder: string, parts: readonly Part[], options: Parameters<typeof written>[1] = {}) {
    const source = new MemorySource(input(folder, 'model.safetensors'), `inputs/${folder}/model.safetensors`)
    const model = await openModel(source)
    return written({ ...model, parts: [...parts] }, { unset: ['format'], ...options })
  }
  /** The same without files, though ModelInfo is filled from config.json: an option of the reference. */
  async function packedBare(folder: string, options: Parameters<typeof written>[1] = {}) {
    const { info, extras } = modelInfoFromConfig(input(folder, 'config.json'), folder)
    const part: Part = { kind: 'mcf.model-info', sharing: 'private', value: {}, content: { info } }
    const model = await openModel(new MemorySource(input(folder, 'model.safetensors'), 'model.safetensors'))
    return written({ ...model, format: 'mcf', metadata: extras, parts: [part] }, options)
  }

  it('gives the reference’s bytes for plain files', async () => {
    expect(Buffer.compare(await packed('plain', []), fixtureBytes('mcf', 'plain-dtypes.mcf'))).toBe(0)
    expect(Buffer.compare(await packed('special', []), fixtureBytes('mcf', 'pack-special-keep.mcf'))).toBe(0)
    expect(Buffer.compare(await packed('noq', []), fixtureBytes('mcf', 'quant-none-src.mcf'))).toBe(0)
  })

  it('gives the reference’s bytes with config.json, ModelInfo filled from it', async () => {
    const parts = [file('config.json', input('qm', 'config.json'))]
    expect(Buffer.compare(await packed('qm', parts, { dedup: true }), fixtureBytes('mcf', 'quant-src.mcf'))).toBe(0)
  })

  it('gives the reference’s bytes for a whole folder, but for the file that the reference rewrites', async () => {
    const reference = await openModel(fixtureSource('mcf', 'pack-hf.mcf'))
    const names = ['vocab.json', 'merges.txt', 'config.json', 'tokenizer.json', 'generation_config.json']
    const rewritten = reference.parts.find(({ name }) => name === 'tokenizer_config.json')!
    const parts = [rewritten, ...names.map((name) => file(name, input('hf-model', name)))]
    const bytes = await packed('hf-model', parts, { dedup: true })
    expect(Buffer.compare(bytes, fixtureBytes('mcf', 'pack-hf.mcf'))).toBe(0)
    const own = file('tokenizer_config.json', input('hf-model', 'tokenizer_config.json'))
    const honest = await reopened(await packed('hf-model', [own]))
    const kept = honest.parts.find(({ name }) => name === 'tokenizer_config.json')!
    expect(await readPayload(kept.data!)).toEqual(input('hf-model', 'tokenizer_config.json'))
  })

  it('stores equal tensors once when asked, as the reference does', async () => {
    const once = await packedBare('hf-model', { dedup: true, align: 1 })
    expect(Buffer.compare(once, fixtureBytes('mcf', 'pack-align1.mcf'))).toBe(0)
    expect(Buffer.compare(await packedBare('hf-model'), fixtureBytes('mcf', 'pack-hf-nodedup-nores.mcf'))).toBe(0)
    const { tensors } = await reopened(once)
    const offsets = tensors.map(({ data }) => data!.origin!.offset)
    expect(new Set(offsets).size).toBeLessThan(offsets.length)
  })

  it('keeps metadata in the table of ModelInfo and gives it back', async () => {
    const metadata = new Map([
      ['format', { type: 'str', value: 'pt' } as const],
      ['𝄞', { type: 'u32', value: 7 } as const],
      ['\uffff', { type: 'f32', value: 1.5 } as const],
      ['bytes', { type: 'str', value: '\ufffd', bytes: Uint8Array.of(0xff) } as const],
      ['empty', { type: 'str', value: '' } as const],
    ])
    const model = sampleModel([sampleTensor('w', 'f32', [3])], metadata)
    const bytes = await written(model)
    const again = await reopened(bytes)
    expect([...again.metadata.keys()]).toEqual(['bytes', 'empty', 'format', '\uffff', '𝄞'])
    for (const [key, value] of metadata) expect(again.metadata.get(key)).toEqual(value)
    expect(Buffer.compare(await written(again), bytes)).toBe(0)
    const changed = await reopened(await written(again, { set: [['format', 'tf']], unset: ['empty'] }))
    expect(changed.metadata.get('format')).toEqual({ type: 'str', value: 'tf' })
    expect(changed.metadata.has('empty')).toBe(false)
  })

  it('orders names by their bytes and finds what it wrote', async () => {
    const names = ['z', '\uffff', '𝄞', 'a', 'a.b', 'Z', '']
    const bytes = await written(sampleModel(names.map((name) => sampleTensor(name, 'u8', [2]))))
    const { verdict, findings } = await verifySource(new MemorySource(bytes, 'out.mcf'))
    expect(verdict, JSON.stringify(findings)).toBe('warnings')
    expect((await reopened(bytes)).tensors.map(({ name }) => name)).toEqual(['', 'Z', 'a', 'a.b', 'z', '\uffff', '𝄞'])
  })

  it('writes every type that it has and none that it has not', async () => {
    const plain = ['f32', 'f16', 'bf16', 'f64', 'i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64']
    const blocks = ['q8', 'q4', 'k6', 'k4', 'k3', 'k2', 'int8', 'int4'].map((name) => `mcf.${name}`)
    const tensors = [...plain, ...blocks].map((id, i) => sampleTensor(id, id, [3, 41], i + 1))
    const model = sampleModel([...tensors, sampleTensor('no', 'c64', [2]), sampleTensor('none', 'f32', [0])])
    const again = await reopened(await written(model, { stow: false }))
    expect(again.tensors.map(({ dtype }) => dtype.id).toSorted()).toEqual([...plain, ...blocks].toSorted())
    for (const tensor of again.tensors) {
      const before = tensors.find(({ name }) => name === tensor.name)!
      expect(await readPayload(tensor.data!)).toEqual(await readPayload(before.data!))
    }
  })

  it('refuses quantized bytes that do not go with their shape', () => {
    const tensor = { ...sampleTensor('w', 'u8', [10]), dtype: dtypeById('mcf.q4')!, shape: [1, 32] }
    expect(mcf.capabilities.write!.tensor(tensor)).toMatchObject({ fits: false, reason: expect.stringContaining('80') })
    expect(mcf.capabilities.write!.tensor({ ...tensor, shape: [32] })).toMatchObject({ fits: false })
  })

  it.each(['mcf', 'embd'])('%s: bytes that do not go with their shape are not written', async (target) => {
    const model = sampleModel([{ ...sampleTensor('w', 'f32', [4]), shape: [5] }])
    await expect(convertToFiles(model, target)).rejects.toMatchObject({ code: 'write/size-mismatch' })
    const stream = { extra: { layout: 'stream' } }
    if (target === 'embd')
      await expect(convertToFiles(model, target, stream)).rejects.toThrow(/16 bytes, but f32 of shape \[5\] takes 20/)
  })

  it('gives decoded values to formats that have no such types', async () => {
    const model = await openModel(fixtureSource('mcf', 'quant-k6.mcf'))
    const files = await convertToFiles(model, 'safetensors')
    const plain = await openModel(sourceOf(files))
    expect(plain.tensors.every(({ dtype }) => !dtype.id.startsWith('mcf.'))).toBe(true)
    const [before, after] = await Promise.all([model, plain].map((each) => hashModel(each, { decoded: true })))
    expect(after!.fingerprint).toBe(before!.fingerprint)
  })

  it('makes a container of files alone, and of nothing', async () => {
    const model = { ...sampleModel([]), parts: [file('vocab.json', new Uint8Array()), file('unknown.txt', base())] }
    const again = await reopened(await written(model))
    expect(again.parts.filter(({ kind }) => kind === 'file').map(({ name }) => name)).toEqual([
      'vocab.json',
      'unknown.txt',
    ])
    const nothing = await reopened(
      await written({ ...again, parts: again.parts.filter(({ sharing }) => sharing === 'derived') }),
    )
    expect(nothing.parts[0]).toMatchObject({ kind: 'mcf.model-info' })
  })

  it('knows its size beforehand and writes in one pass', async () => {
    const files = await convertToFiles(sampleModel([sampleTensor('w', 'f32', [100])]), 'mcf', { name: 'a.mcf' })
    expect((await verifySource(sourceOf(files))).verdict).toBe('ok')
  })
})
