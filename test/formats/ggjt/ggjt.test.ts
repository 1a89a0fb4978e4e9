// Files before GGUF beyond the list of fixtures: what their settings become, where blocks of old versions go, and headers nobody knows.
import { describe, expect, it } from 'vitest'
import { architectureOf } from '../../../src/content/architecture.js'
import { readTensor } from '../../../src/index.js'
import {
  diffModels,
  MemorySource,
  type MetaList,
  type Model,
  openModel,
  planConversion,
  verifySource,
} from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource, loadCases } from '../../support/fixtures.js'

const open = (file: string) => openModel(fixtureSource('ggjt', file))
const valuesOf = async (model: Model, name: string): Promise<Float32Array> =>
  (await readTensor(model, name, { as: 'f32' })).data
const codesOf = async (bytes: Uint8Array): Promise<string[]> =>
  (await verifySource(new MemorySource(bytes, 'm.bin'))).findings
    .filter(({ severity }) => severity !== 'note')
    .map(({ code }) => code)

describe('the header', () => {
  it.each([
    ['ggjt-v3-q4_0.bin', { architecture: 'llama', layers: 1, hidden: 32, heads: 2, vocabulary: 16 }],
    ['ggml-whisper-f16.bin', { architecture: 'whisper', layers: 1, hidden: 16, heads: 2, context: 16, vocabulary: 24 }],
    ['ggml-gpt2-f16.bin', { architecture: 'gpt2', layers: 1, hidden: 32, context: 64 }],
    ['ggml-mpt-f16.bin', { architecture: 'mpt', layers: 1, hidden: 32, heads: 2 }],
    ['ggml-bert-f16.bin', { architecture: 'bert', layers: 1, hidden: 32, heads: 2 }],
  ])('of %s says what the model is', async (file, facts) => {
    expect(await architectureOf(await open(file))).toMatchObject(facts)
  })

  it('has the vocabulary, bytes that are not UTF-8 included, and scores from ggmf on', async () => {
    const { metadata } = await open('ggmf-llama-f16.bin')
    const tokens = metadata.get('tokens') as MetaList
    expect(tokens.length).toBe(16)
    expect(tokens.values()[9]).toEqual({ type: 'str', value: ' the' })
    expect(tokens.values()[7]).toMatchObject({ bytes: Uint8Array.of(0x80) })
    expect(tokens.slice!(11, 13).map((each) => 'value' in each && each.value)).toEqual([' hello', '世'])
    expect((metadata.get('scores') as MetaList).values()[3]).toEqual({ type: 'f32', value: -3 })
    expect((await open('ggml-llama-f16.bin')).metadata.has('scores')).toBe(false)
  })

  it('that is not known leaves its tensors readable', async () => {
    const model = await open('ggml-other-header.bin')
    expect(model.tensors.map(({ name, shape }) => [name, ...shape])).toEqual([
      ['encoder.weight', 8, 16],
      ['encoder.gain'],
      ['encoder.bias', 8],
    ])
  })

  it('is not looked for behind a row of tensors that breaks off', async () => {
    const bytes = fixtureBytes('ggjt', 'ggml-other-header.bin').slice()
    bytes[bytes.byteLength - 32 - 12 - 4 - 12] = 9 // the dimensions of the last tensor
    expect(await codesOf(bytes)).not.toContain('ggjt/unknown-header')
  })
})

describe('tensors', () => {
  it('of a model that lacks some are missed', async () => {
    const bytes = fixtureBytes('ggjt', 'ggjt-v3-q4_0.bin')
    const { tensors } = await open('ggjt-v3-q4_0.bin')
    const { offset, length } = tensors.at(-2)!.data!.origin!
    expect(await codesOf(bytes.subarray(0, offset + length))).toEqual(['ggjt/missing-tensors'])
  })

  it('go by what their version means by a type', async () => {
    const types = await Promise.all(
      ['ggjt-v1-q4_0.bin', 'ggjt-v2-q4_0.bin', 'ggjt-v3-q4_0.bin', 'ggml-whisper-q8_0.bin'].map(async (file) => {
        const { tensors } = await open(file)
        return tensors.find(({ dtype }) => dtype.kind === 'block')!.dtype.id
      }),
    )
    expect(types).toEqual(['ggml.q4_0_v1', 'ggml.q4_0_v2', 'ggml.q4_0', 'ggml.q8_0'])
  })

  it('of all versions hold the same values where only the layout differs', async () => {
    const [first, second] = await Promise.all(['ggjt-v1-q4_1.bin', 'ggjt-v2-q4_1.bin'].map(open))
    for (const { name } of first!.tensors) expect(await valuesOf(first!, name)).toEqual(await valuesOf(second!, name))
  })
})

describe('converted', () => {
  it('blocks of today stay as they are in GGUF', async () => {
    const model = await open('ggjt-v3-q4_0.bin')
    const plan = (await planConversion(model, 'gguf', { name: 'm.gguf' })).plan
    expect(plan.actions.filter(({ action }) => action === 'dequantize')).toEqual([])
    const again = await openModel(sourceOf(await convertToFiles(model, 'gguf')))
    expect((await diffModels(model, again, { measure: false })).tensors).toEqual([])
  })

  it('older blocks become f32 with the same values', async () => {
    const model = await open('ggjt-v1-q4_1.bin')
    const again = await openModel(sourceOf(await convertToFiles(model, 'gguf')))
    for (const [i, tensor] of model.tensors.entries()) {
      expect(again.tensors[i]!.dtype.id).toBe('f32')
      expect(await valuesOf(again, tensor.name)).toEqual(await valuesOf(model, tensor.name))
    }
  })
})

const checked = loadCases('ggjt').filter(({ check }) => check !== undefined)
it.each(checked)('$file is answered with $check', async ({ file, check }) => {
  expect(await codesOf(fixtureBytes('ggjt', file))).toContain(check)
})
