// Several models in one. What two of them call the same must be the same, or somebody says whose counts.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tableOf, vocabularyPart } from '../../../src/content/vocabulary.js'
import {
  bytesPayload,
  diffModels,
  formats,
  hashModel,
  listOf,
  MemorySource,
  type MergeOptions,
  type Model,
  mergeModels,
  openModel,
  type Part,
  planConversion,
  type Tensor,
  text,
} from '../../../src/kit.js'
import { findOrientation } from '../../../src/model/orientation.js'
import { columnMajor } from '../../../src/transforms/reorder.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { encoder } from '../../support/encoder.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

fc.configureGlobal({ seed: 29 })

function modelOf(file: string, tensors: readonly Tensor[], entries: readonly [string, string][] = []): Model {
  const metadata = new Map(entries.map(([key, value]) => [key, text(value)]))
  return { ...sampleModel(tensors, metadata), files: [new MemorySource(new Uint8Array(), file)] }
}

const names = ({ tensors }: Model): string[] => tensors.map(({ name }) => name)
const merge = async (models: readonly Model[], options?: MergeOptions) =>
  mergeModels(models as [Model, ...Model[]], options)
const clash = (code: string, path: string, file: string) =>
  expect.objectContaining({ code, finding: expect.objectContaining({ path, file }) })

describe('tensors', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name, i) => sampleTensor(name, 'f32', [2, 3], i + 1)) as [
    Tensor,
    Tensor,
    Tensor,
  ]

  it('of all models follow each other, and so do the files', async () => {
    const { model, actions } = await merge([modelOf('x', [a]), modelOf('y', [b]), modelOf('z', [c])])
    expect(names(model)).toEqual(['a', 'b', 'c'])
    expect(model.files.map(({ name }) => name)).toEqual(['x', 'y', 'z'])
    expect(actions.map(({ name, action, reason }) => [name, action, reason])).toEqual([
      ['y', 'add', '1 tensor'],
      ['z', 'add', '1 tensor'],
    ])
  })

  it('with the same content are one, whatever the order of their elements', async () => {
    const { model, actions } = await merge([modelOf('x', [a, b]), modelOf('y', [columnMajor(a), c])])
    expect(names(model)).toEqual(['a', 'b', 'c'])
    expect(actions).toHaveLength(1)
  })

  it.each([
    ['values', { ...b, name: 'a' }],
    ['type', { ...sampleTensor('a', 'f16', [2, 3]) }],
    ['shape', { ...a, shape: [3, 2] }],
    ['scales', { ...a, quant: { scheme: 'symmetric', scales: [2] } as const }],
    ['data', { ...a, data: null }],
  ])('with other %s are refused by name', async (_, other) => {
    await expect(merge([modelOf('x', [a]), modelOf('y', [other])])).rejects.toEqual(
      clash('merge/tensor-clash', 'a', 'y'),
    )
    const first = await merge([modelOf('x', [a]), modelOf('y', [other])], { prefer: 'first' })
    const last = await merge([modelOf('x', [a]), modelOf('y', [other])], { prefer: 'last' })
    expect([first.model.tensors.at(0), last.model.tensors.at(0)]).toEqual([a, other])
    expect(first.actions.at(0)).toMatchObject({ name: 'a of y', action: 'drop', loss: 'content', requested: true })
    expect(last.actions.at(0)).toMatchObject({ name: 'a of x', action: 'drop', loss: 'content', requested: true })
    // What is not kept need not agree.
    await merge([modelOf('x', [a]), modelOf('y', [other])], { exclude: ['a'] })
  })

  it('that clash are all named, up to a few', async () => {
    const many = Array.from({ length: 9 }, (_, i) => sampleTensor(`t${i}`, 'f32', [2], 1))
    const others = many.map((tensor) => sampleTensor(tensor.name, 'f32', [2], 5))
    await expect(merge([modelOf('x', many), modelOf('y', others)])).rejects.toThrow(/"t0".*"t4".*and perhaps more/)
  })

  it('of one name within a model are refused', async () => {
    await expect(merge([modelOf('x', [a]), modelOf('y', [b, b])])).rejects.toMatchObject({
      code: 'write/duplicate-name',
    })
  })

  it('of a model that was taken apart come together again', async () => {
    const model = sampleModel(Array.from({ length: 8 }, (_, i) => sampleTensor(`t${i}`, 'f32', [3], i + 1)))
    const { fingerprint } = await hashModel(model)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 8, maxLength: 8 }), async (masks) => {
        // Each tensor goes into one to three models; every one of them agrees with the others about it.
        const pieces = [1, 2, 4].map((bit) => ({
          ...model,
          tensors: model.tensors.filter((_, i) => Math.floor(masks[i]! / bit) % 2 === 1),
        }))
        const joined = await merge(pieces)
        expect((await hashModel(joined.model)).fingerprint).toBe(fingerprint)
      }),
      { numRuns: 30 },
    )
  })

  it('of encoders lie the same way round afterwards', async () => {
    const size = { hidden: 4, intermediate: 8 }
    const embd = await openModel(sourceOf(await convertToFiles(encoder('out-in', size), 'embd', { name: 'e.weights' })))
    const plain = encoder('out-in', size, 'other.')
    for (const models of [
      [plain, embd],
      [embd, plain],
    ]) {
      const { model } = await merge(models)
      const files = await convertToFiles(model, 'safetensors', { name: 'o.safetensors' })
      const { tensors } = await openModel(sourceOf(files))
      const mine = tensors.filter(({ name }) => !name.startsWith('other.'))
      const others = tensors.filter(({ name }) => name.startsWith('other.'))
      expect([findOrientation(mine).linear, findOrientation(others).linear]).toEqual(['out-in', 'out-in'])
    }
  })
})

describe('metadata', () => {
  const x = modelOf(
    'x',
    [],
    [
      ['same', '1'],
      ['other', 'x'],
    ],
  )
  const y = modelOf(
    'y',
    [],
    [
      ['same', '1'],
      ['other', 'y'],
      ['new', '2'],
    ],
  )

  it('is joined where it agrees, and refused by key where it does not', async () => {
    await expect(merge([x, y])).rejects.toEqual(clash('merge/metadata-clash', 'other', 'y'))
    const last = await merge([x, y], { prefer: 'last' })
    expect([...last.model.metadata].map(([key, value]) => [key, (value as { value: string }).value])).toEqual([
      ['same', '1'],
      ['other', 'y'],
      ['new', '2'],
    ])
    expect(last.actions.at(0)).toMatchObject({
      subject: 'metadata',
      name: 'other of x',
      action: 'drop',
      loss: 'content',
    })
    const settled = await merge([x, y], { settled: ['other'] })
    expect(settled.actions.filter(({ action }) => action === 'drop')).toEqual([])
  })

  it('of another type with the same value is no clash', async () => {
    const typed = { ...sampleModel([], new Map([['n', { type: 'u32', value: 3 } as const]])) }
    const json = { ...sampleModel([], new Map([['n', { type: 'json', value: 3 } as const]])) }
    const { model } = await merge([typed, json])
    expect(model.metadata.get('n')).toEqual({ type: 'u32', value: 3 })
    const lists = [1, 2].map((last) => sampleModel([], new Map([['l', listOf('str', [text(String(last))])]])))
    await expect(merge(lists)).rejects.toMatchObject({ code: 'merge/metadata-clash' })
  })
})

describe('parts', () => {
  const file = (name: string, content: string): Part => {
    const data = bytesPayload(new TextEncoder().encode(content))
    return { kind: 'file', sharing: 'shared', name, value: { bytes: data.byteLength }, data }
  }
  const sizes = (entries: Readonly<Record<string, number>>): Part => ({
    kind: 'size-variables',
    sharing: 'shared',
    value: entries,
    content: new Map(Object.entries(entries).map(([name, size]) => [name, BigInt(size)])),
  })
  const withParts = (name: string, ...parts: Part[]): Model => ({ ...modelOf(name, []), parts })
  const tokens = (...words: string[]): Part =>
    vocabularyPart(tableOf(words.map((word) => new TextEncoder().encode(word))))

  it('are told apart by kind and name, and compared by content', async () => {
    const joined = await merge([
      withParts('x', file('a.txt', 'one'), tokens('a', 'b')),
      withParts('y', file('a.txt', 'one'), file('b.txt', 'two'), tokens('a', 'b')),
    ])
    expect(joined.model.parts.map(({ kind, name }) => name ?? kind)).toEqual(['a.txt', 'vocabulary', 'b.txt'])
    await expect(merge([withParts('x', file('a.txt', 'one')), withParts('y', file('a.txt', 'two'))])).rejects.toEqual(
      clash('merge/part-clash', 'a.txt', 'y'),
    )
    await expect(merge([withParts('x', tokens('a', 'b')), withParts('y', tokens('a', 'c'))])).rejects.toEqual(
      clash('merge/part-clash', 'vocabulary', 'y'),
    )
    await merge([withParts('x', tokens('a')), withParts('y', tokens('b'))], { without: ['vocabulary'] })
  })

  it('that name sizes are joined as long as they agree', async () => {
    const { model } = await merge([withParts('x', sizes({ D: 2, E: 3 })), withParts('y', sizes({ E: 3, F: 4 }))])
    expect(model.parts).toHaveLength(1)
    expect(model.parts[0]!.content).toEqual(
      new Map([
        ['D', 2n],
        ['E', 3n],
        ['F', 4n],
      ]),
    )
    await expect(merge([withParts('x', sizes({ D: 2 })), withParts('y', sizes({ D: 3 }))])).rejects.toMatchObject({
      code: 'merge/part-clash',
    })
  })

  it('that only their format understands keep their owner', async () => {
    const own: Part = { kind: 'chunk', sharing: 'private', name: 'c', value: 1 }
    const derived: Part = { kind: 'layout', sharing: 'derived', value: {} }
    const { model } = await merge([modelOf('x', []), { ...withParts('y', own, derived), format: 'elsewhere' }])
    expect(model.parts).toEqual([{ ...own, owner: 'elsewhere' }])
  })
})

const writable = formats.filter(
  ({ capabilities }) => capabilities.write && capabilities.write?.maxTensors === undefined,
)

it.each(writable.map(({ id }) => id))('a model in two %s files is the model again', async (id) => {
  const model = sampleModel([sampleTensor('l0.weight', 'f32', [4, 6], 1), sampleTensor('l1.weight', 'f32', [5], 2)])
  const pieces = await Promise.all(
    model.tensors.map(async (tensor) => {
      const files = await convertToFiles({ ...model, tensors: [tensor] }, id, { deterministic: true })
      return openModel(sourceOf(files), { from: id })
    }),
  )
  const { model: joined, actions } = await merge(pieces, { prefer: 'first' })
  const { plan } = await planConversion(joined, 'safetensors', { name: 'o.safetensors', before: actions })
  expect(plan.actions.slice(0, actions.length)).toEqual([...actions])
  const back = await openModel(sourceOf(await convertToFiles(joined, 'safetensors', { name: 'o.safetensors' })))
  expect((await diffModels(model, back)).tensors).toEqual([])
})
