// ModelInfo that a writer fills from config.json is not a part of the model: it comes and goes with the file.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  diffModels,
  MemorySource,
  type Metadata,
  type MetaValue,
  type Model,
  openModel,
  planConversion,
} from '../../../../src/kit.js'
import { runCli as tare } from '../../../cli/run-cli.js'
import { useTempDir } from '../../../node/temp-dir.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { fixtureBytes, fixtureSource, fixturesRoot } from '../../../support/fixtures.js'
import { inModelInfo, poke, sectionOf } from '../build.js'

const at = useTempDir()

/** A directory as tare writes it, so that the same content means the same bytes. */
async function hubDirectory(metadata: Readonly<Record<string, string>> = {}): Promise<string> {
  cpSync(join(fixturesRoot, 'mcf', 'inputs', 'hf-model'), at('source'), { recursive: true })
  const set = Object.entries(metadata).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  expect((await tare('convert', at('source'), '-o', `${at('hub')}/`, '--to', 'safetensors', ...set)).status).toBe(0)
  return at('hub')
}

const readAll = (folder: string): Record<string, string> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'hex')]))

async function thereAndBack(hub: string, name: string): Promise<Record<string, string>> {
  expect((await tare('convert', hub, '-o', at(name))).status).toBe(0)
  const { status, stderr } = await tare('convert', at(name), '-o', `${at('back')}/`, '--to', 'safetensors')
  expect(status, stderr).toBe(0)
  return readAll(at('back'))
}

describe('a directory through MCF', () => {
  it('comes back as it was', async () => {
    const hub = await hubDirectory({ format: 'pt' })
    expect(await thereAndBack(hub, 'm.mcf')).toEqual(readAll(hub))
    expect((await tare('diff', hub, at('m.mcf'))).stdout).toMatch(/^equal/)
  })

  it('keeps entries of its own under the keys that are filled', async () => {
    const hub = await hubDirectory({ 'hf.model_type': 'llama', 'hf.rope_scaling': 'mine' })
    expect(await thereAndBack(hub, 'm.mcf')).toEqual(readAll(hub))
  })

  it('gets a new ModelInfo with a new config.json', async () => {
    await hubDirectory()
    expect((await tare('convert', at('hub'), '-o', at('m.mcf'))).status).toBe(0)
    writeFileSync(at('config.json'), '{"model_type": "gemma", "vocab_size": 7}')
    const model = await openModel(new MemorySource(readFileSync(at('m.mcf')), 'm.mcf'))
    const config = model.parts.find(({ name }) => name === 'config.json')!
    const bytes = new Uint8Array(readFileSync(at('config.json')))
    const replaced = { ...config, data: { byteLength: bytes.byteLength, read: undefined, chunks: () => once(bytes) } }
    const files = await convertToFiles(model, 'mcf', { parts: [replaced] })
    const info = (await openModel(sourceOf(files))).parts.find(({ kind }) => kind === 'mcf.model-info')!
    expect(info).toMatchObject({ sharing: 'derived', value: { arch: 'gemma', vocabSize: 7, modelName: 'hub' } })
  })
})

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

describe('ModelInfo of a file', () => {
  it('is derived where it follows from config.json, as the reference packs it', async () => {
    const model = await openModel(fixtureSource('mcf', 'pack-hf.mcf'))
    expect(model.metadata.size).toBe(0)
    expect(model.parts.find(({ kind }) => kind === 'mcf.model-info')!.sharing).toBe('derived')
  })

  it('is content where config.json is not there, or says something else', async () => {
    const bare = await openModel(fixtureSource('mcf', 'pack-hf-nodedup-nores.mcf'))
    expect([...bare.metadata.keys()]).toEqual(['hf.config_json_present', 'hf.model_type', 'hf.rope_scaling'])
    const bytes = fixtureBytes('mcf', 'pack-hf.mcf')
    poke(bytes, inModelInfo(bytes, 'vocabSize'), 9, 4)
    const changed = await openModel(new MemorySource(bytes, 'm.mcf'))
    expect(changed.metadata.size).toBe(3)
    expect(changed.parts.find(({ kind }) => kind === 'mcf.model-info')!.sharing).toBe('private')
  })

  it('is content where bytes of it have no meaning', async () => {
    const bytes = fixtureBytes('mcf', 'plain-dtypes.mcf')
    const { offset, size } = sectionOf(bytes, 1)
    poke(bytes, offset + size - 1, 1, 1)
    const model = await openModel(new MemorySource(bytes, 'm.mcf'))
    expect(model.parts.find(({ kind }) => kind === 'mcf.model-info')!.sharing).toBe('private')
  })

  it('goes along when it was changed in a file that carries a model of another format', async () => {
    const hub = await openModel(fixtureSource('safetensors', 'empty-tensors.safetensors'))
    const [bytes] = [...(await convertToFiles(hub, 'mcf')).values()]
    poke(bytes!, inModelInfo(bytes!, 'contextLength'), 1, 4)
    const model = await openModel(new MemorySource(bytes!, 'm.mcf'))
    const { plan } = await planConversion(model, 'safetensors', { name: 'o' })
    expect(plan.loss).toBe('none')
    const files = await convertToFiles(model, 'safetensors')
    const carried = await openModel(sourceOf(files))
    expect((await diffModels(model, carried)).equal).toBe(true)
    expect([...(await convertToFiles(carried, 'mcf')).values()][0]).toEqual(bytes)
  })
})

describe('ModelInfo of a model without config.json', () => {
  const u32 = (value: number) => ({ type: 'u32', value }) as const
  const gguf = new Map<string, MetaValue>([
    ['general.architecture', { type: 'str', value: 'qwen3' }],
    ['qwen3.block_count', u32(2)],
    ['qwen3.embedding_length', u32(8)],
    ['qwen3.attention.head_count', u32(4)],
    ['qwen3.attention.head_count_kv', u32(2)],
    ['qwen3.context_length', u32(64)],
    ['qwen3.vocab_size', u32(7)],
    ['qwen3.rope.freq_base', { type: 'f32', value: 1e6 }],
    ['qwen3.rope.scaling.type', { type: 'str', value: 'yarn' }],
    ['qwen3.rope.scaling.factor', { type: 'f32', value: 4 }],
    ['qwen3.rope.scaling.original_context_length', u32(16)],
  ])
  const written = async (metadata: Metadata): Promise<Model> => {
    const model: Model = { format: 'memory', metadata, tensors: [], parts: [], files: [] }
    return openModel(sourceOf(await convertToFiles(model, 'mcf')))
  }
  const infoIn = ({ parts }: Model) => parts.find(({ kind }) => kind === 'mcf.model-info')!

  it('follows from the metadata that a GGUF file has, and comes and goes with them', async () => {
    const model = await written(gguf)
    expect(infoIn(model)).toMatchObject({
      sharing: 'derived',
      value: {
        ...{ arch: 'qwen', vocabSize: 7, hiddenSize: 8, layerCount: 2, headCount: 4, headCountKv: 2 },
        ...{ contextLength: 64, trainContext: 16, ropeType: 'yarn', ropeFreqBase: 1e6, ropeScale: 4 },
      },
    })
    const changed = new Map<string, MetaValue>([...model.metadata, ['qwen3.block_count', u32(3)]])
    const again = await openModel(sourceOf(await convertToFiles({ ...model, metadata: changed }, 'mcf')))
    expect(infoIn(again)).toMatchObject({ sharing: 'derived', value: { arch: 'qwen', layerCount: 3 } })
  })

  it('knows no architecture that the format has no number for', async () => {
    const model = await written(new Map([['general.architecture', { type: 'str', value: 'bert' }]]))
    expect(infoIn(model)).toMatchObject({ sharing: 'derived', value: { arch: 'unknown' } })
  })
})
