// The name and the architecture of a model, which manifests and set indexes state.
import { decode } from '@msgpack/msgpack'
import { describe, expect, it } from 'vitest'
import { filePart } from '../../../../src/content/companions.js'
import {
  type ByteSource,
  bytesPayload,
  diffModels,
  MemorySink,
  MemorySource,
  type MetaValue,
  type Model,
  openModel,
  planEdit,
  text,
  verifySource,
  writeLayout,
} from '../../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'

interface Given {
  readonly format?: string
  readonly metadata?: Record<string, string>
  readonly folder?: { readonly name: string; readonly files?: readonly string[]; readonly isWhole: boolean }
  readonly config?: unknown
}

function modelOf({ format = 'safetensors', metadata = {}, folder, config }: Given): Model {
  const entries = Object.entries(metadata).map(([key, value]): [string, MetaValue] => [key, text(value)])
  const main: ByteSource = Object.assign(new MemorySource(new Uint8Array(0), 'model.safetensors'), {
    ...(folder && { folder: { files: [], ...folder } }),
  })
  const json = typeof config === 'string' ? config : JSON.stringify(config)
  const parts = config === undefined ? [] : [filePart('config.json', bytesPayload(new TextEncoder().encode(json)))]
  return { ...sampleModel([sampleTensor('w', 'f32', [3])], new Map(entries)), format, parts, files: [main] }
}

/** What the manifest of a file says, decoded by another library. */
function manifestOf(bytes: Uint8Array): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let i = 0; i < view.getUint32(96, true); i++) {
    const at = 112 + 80 * i
    if (String.fromCharCode(...bytes.subarray(at, at + 4)) !== 'MMSG') continue
    const offset = Number(view.getBigUint64(at + 8, true))
    return (decode(bytes.subarray(offset, offset + Number(view.getBigUint64(at + 16, true)))) as { model: unknown })
      .model
  }
  return undefined
}

const config = { model_type: 'bert', architectures: ['BertModel'], _name_or_path: 'org/base-name' }
const whole = { name: 'tiny-bert', isWhole: true }
const commit = { name: '0123456789abcdef0123456789abcdef01234567', isWhole: true }

const cases: readonly (readonly [string, Given, string, string])[] = [
  ['a directory and its configuration', { folder: whole, config }, 'tiny-bert', 'bert'],
  ['the name of a published model', { folder: commit, config }, 'base-name', 'bert'],
  ['a class', { folder: whole, config: { architectures: ['GPT2LMHeadModel'] } }, 'tiny-bert', 'GPT2LMHeadModel'],
  ['nothing, where the configuration is none', { config: '[1' }, '', ''],
  ['nothing, where the path is one on a machine', { config: { _name_or_path: '/home/x/out' } }, '', ''],
  ['GGUF', { format: 'gguf', metadata: { 'general.name': 'A', 'general.architecture': 'llama' } }, 'A', 'llama'],
  ['its own keys first', { folder: whole, config, metadata: { model_name: 'B', architecture: 'c' } }, 'B', 'c'],
  ['EMBD', { format: 'embd', metadata: { model_name: 'minilm' } }, 'minilm', ''],
  ['nothing, for a file in any directory', { folder: { name: 'tmp', isWhole: false } }, '', ''],
  ['the directory of a published file', { folder: { name: 'dir', files: ['config.json'], isWhole: false } }, 'dir', ''],
]

describe.each(['aero', 'aeroset'])('%s takes name and architecture from', (target) => {
  it.each(cases)('%s', async (_, given, name, architecture) => {
    const model = modelOf(given)
    const files = await convertToFiles(model, target, { name: 'model.aeroset.json', deterministic: true })
    const stated = { name, architecture }
    for (const [file, bytes] of files) {
      if (target === 'aeroset' && file === 'model.aeroset.json')
        expect(JSON.parse(new TextDecoder().decode(bytes)).model).toEqual(stated)
      else expect(manifestOf(bytes), file).toEqual(stated)
    }
    expect((await verifySource(sourceOf(files))).verdict).toBe('ok')
    const stored = await openModel(sourceOf(files))
    expect(stored.metadata.get('model_name')).toEqual(name === '' ? undefined : text(name))
    expect(stored.metadata.get('architecture')).toEqual(architecture === '' ? undefined : text(architecture))
    // They are there for readers of this format; the model has not got them.
    expect((await diffModels(model, stored)).metadata).toEqual([])
    const other = target === 'aero' ? 'aeroset' : 'aero'
    const onwards = await openModel(sourceOf(await convertToFiles(stored, other, { name: 'model.aeroset.json' })))
    expect(onwards.metadata.get('model_name')).toEqual(name === '' ? undefined : text(name))
    expect((await diffModels(model, onwards)).metadata).toEqual([])
  })
})

it('keeps the names of a file that carries another format when something else is edited', async () => {
  const files = await convertToFiles(modelOf({ folder: whole, config }), 'aero', { name: 'm.aero' })
  for (const inPlace of [true, false]) {
    const source = await openModel(sourceOf(files))
    const { conversion } = await planEdit(source, { set: [['note', 'x']] }, { name: 'm.aero', inPlace })
    const written = new Map<string, Uint8Array>()
    await writeLayout(conversion.layout, async (name) => new MemorySink(name, written))
    expect(manifestOf(written.get('m.aero')!)).toEqual({ name: 'tiny-bert', architecture: 'bert' })
  }
})

it('leaves a file of its own without a name as it is, also when it is rewritten', async () => {
  const file = 'valid/tidx-wtsh-only.aero'
  const model = await openModel(fixtureSource('aero', file))
  const source: ByteSource = Object.assign(new MemorySource(fixtureBytes('aero', file)), {
    folder: { files: ['config.json'], ...whole },
  })
  const named: Model = { ...model, files: [source] }
  const again = await openModel(sourceOf(await convertToFiles(named, 'aero', { extra: { 'page-hashes': 64 } })))
  expect((await diffModels(model, again)).equal).toBe(true)
  expect(again.metadata.has('model_name')).toBe(false)
})
