import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromTypedJson, toTypedJson } from '../../src/content/typed-json.js'
import {
  diffModels,
  formats,
  inspectModel,
  listOf,
  type MetaValue,
  type Model,
  openModel,
  planConversion,
  stowageKey,
  text,
} from '../../src/kit.js'
import { encodeStowage, findStowage } from '../../src/stow/document.js'
import { restoreStowed } from '../../src/stow/index.js'
import { inOrder, orderOf } from '../../src/stow/order.js'
import { fromPlainData, toPlainData } from '../../src/stow/plain-data.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { featureModels } from '../support/feature-models.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const carrying = (stowage: unknown, model: Model = sampleModel([sampleTensor('w', 'i8', [4])])): Model => ({
  ...model,
  metadata: new Map([...model.metadata, [stowageKey, text(JSON.stringify(stowage))]]),
})
const from = { format: 'oinf' }

describe('typed JSON', () => {
  const scalar: fc.Arbitrary<MetaValue> = fc.oneof(
    fc.string({ unit: 'binary' }).map((value): MetaValue => ({ type: 'str', value })),
    fc.uint8Array().map((value): MetaValue => ({ type: 'bytes', value })),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value): MetaValue => ({ type: 'u64', value })),
    fc.integer().map((value): MetaValue => ({ type: 'i32', value })),
    fc.double().map((value): MetaValue => ({ type: 'f64', value })),
    fc.boolean().map((value): MetaValue => ({ type: 'bool', value })),
    fc.constant<MetaValue>({ type: 'null' }),
    fc.constant<MetaValue>({ type: 'f32', value: Number.NaN, bits: 0x7fc00001n }),
  )

  it('gives back every value', () => {
    const value = fc.oneof(
      scalar,
      fc.array(scalar).map((items) => listOf('mixed', items)),
    )
    fc.assert(
      fc.property(value, (each) => {
        const json = JSON.parse(JSON.stringify(toTypedJson(each)))
        const back = fromTypedJson(json)
        expect(back && toTypedJson(back)).toEqual(toTypedJson(each))
      }),
    )
  })

  it.each([
    [[]],
    [['u8']],
    [['u8', 'x']],
    [['bytes', 'zz']],
    [['bytes', 'abc']],
    [['ndarray', 'nope', [1], '00']],
    [['array', 'u8', 5]],
    [['strings', [1]]],
    [{ type: 'u8' }],
    [null],
  ])('takes nothing that it would not write: %j', (json) => {
    expect(fromTypedJson(json as never)).toBeUndefined()
  })
})

describe('plain data', () => {
  it('gives back maps, bytes, big integers and odd numbers', () => {
    const value = {
      map: new Map<string, unknown>([['k', Uint8Array.of(1, 2)]]),
      big: 2n ** 70n,
      nan: Number.NaN,
      zero: -0,
      list: [null, 'x'],
    }
    const back = fromPlainData(JSON.parse(JSON.stringify(toPlainData(value)))) as typeof value
    expect(back).toEqual(Object.assign(Object.create(null), value))
    expect(Object.is(back.zero, -0)).toBe(true)
  })

  it('refuses what has no form', () => {
    expect(toPlainData({ f: () => 1 })).toBeUndefined()
    expect(toPlainData(new Date())).toBeUndefined()
    expect(toPlainData({ $int: '1' })).toBeUndefined()
  })
})

describe('order', () => {
  it('comes back from any other order', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'grapheme' }), { maxLength: 20 })
    fc.assert(
      fc.property(names, fc.infiniteStream(fc.nat()), (own, random) => {
        const other = own.map((name) => ({ name, at: random.next().value as number })).toSorted((a, b) => a.at - b.at)
        expect(inOrder(other, ({ name }) => name, orderOf(own)).map(({ name }) => name)).toEqual(own)
      }),
    )
  })

  it.each([[[0]], [[0, 0]], [[0, 2]], [[5, 1]]])('is left alone by %j', (order) => {
    expect(inOrder(['b', 'a'], (name) => name, order)).toEqual(['b', 'a'])
  })
})

describe('a container that carries stowage', () => {
  it('holds it as plain ASCII', () => {
    const json = encodeStowage({ version: 1, from, metadata: [['ключ\u0007', ['str', '🙂']]] })
    expect(json).toMatch(/^[ -~]*$/)
    expect(findStowage(new Map([[stowageKey, text(json)]]))?.stowage.metadata).toEqual([['ключ\u0007', ['str', '🙂']]])
  })

  it('may hold it in pieces', async () => {
    const long = text('x'.repeat(200_000))
    const model = sampleModel([sampleTensor('w', 'f32', [2])], new Map([['long', long]]))
    const carried = await openModel(sourceOf(await convertToFiles(model, 'embd', { name: 'm.weights' })))
    expect([...carried.metadata.keys()].filter((key) => key.startsWith(stowageKey)).length).toBeGreaterThan(3)
    expect((await restoreStowed(carried)).model.metadata.get('long')).toEqual(long)
  })

  it('gives way to what was edited since', async () => {
    const entry = ['k', ['u8', 7], ['str', '7']]
    const restored = async (...now: [string, MetaValue][]) =>
      (await restoreStowed(carrying({ version: 1, from, metadata: [entry] }, sampleModel([], new Map(now))))).model
        .metadata
    expect((await restored(['k', text('7')])).get('k')).toEqual({ type: 'u8', value: 7 })
    expect((await restored(['k', text('8')])).get('k')).toEqual(text('8'))
    expect((await restored()).has('k')).toBe(false)
  })

  it.each([
    ['no version', { from }],
    ['no origin', { version: 1 }],
    ['a later version', { version: 2, from }],
    ['tensors that are no list', { version: 1, from, tensors: {} }],
    ['a shape that is none', { version: 1, from, tensors: [{ stored: 'w', shape: [-1] }] }],
    ['a part without a kind', { version: 1, from, parts: [{ sharing: 'shared', owner: 'x', value: 1 }] }],
  ])('keeps it as it is with %s', async (_, stowage) => {
    const model = carrying(stowage)
    expect((await restoreStowed(model)).model).toBe(model)
  })

  it.each([
    ['an unknown type', { stored: 'w', dtype: 'nope' }],
    ['a type that never fits into this one', { stored: 'w', dtype: 'f64' }],
    ['another number of elements', { stored: 'w', shape: [5] }],
    ['bytes that are too few', { stored: 'w', bytes: true, dtype: 'f32', shape: [4] }],
    ['a declared tensor that has elements', { name: 'x', dtype: 'f32', shape: [4] }],
    ['a huge shape', { stored: 'w', shape: [2 ** 40, 2 ** 40] }],
  ])('does not believe %s', async (_, tensor) => {
    const { model, names } = await restoreStowed(carrying({ version: 1, from, tensors: [tensor] }))
    expect([model.tensors.map(({ shape, dtype }) => [shape, dtype.id]), names]).toEqual([[[[4], 'i8']], []])
  })

  it.each([
    ['a vocabulary without tokens', { kind: 'vocabulary', sharing: 'shared', owner: 'embd', value: {} }],
    ['a file without data', { kind: 'file', sharing: 'shared', owner: 'mcf', name: 'config.json', value: {} }],
    ['a section that says nothing', { kind: 'mcf.section', sharing: 'private', owner: 'mcf', value: {}, text: 'x' }],
    [
      'size variables that are no numbers',
      { kind: 'size-variables', sharing: 'shared', owner: 'oinf', value: {}, content: { $map: [['D', 'x']] } },
    ],
    [
      'bytes that are not base64',
      { kind: 'file', sharing: 'shared', owner: 'mcf', name: 'x', value: {}, base64: '%%' },
    ],
    ['what nobody owns', { kind: 'x', sharing: 'private', owner: 'nobody', value: {} }],
  ])('does not believe %s', async (_, part) => {
    expect((await restoreStowed(carrying({ version: 1, from, parts: [part] }))).model.parts).toEqual([])
  })
})

describe('a plan', () => {
  it('names what is stowed and why, and stows nothing when told not to', async () => {
    const model = featureModels['files and a vocabulary']!
    const plan = async (stow: boolean) => (await planConversion(model, 'safetensors', { name: 'x', stow })).plan
    expect((await plan(true)).actions.filter(({ action }) => action === 'stow').map(({ name }) => name)).toEqual([
      'config.json',
      'notes.txt',
      'vocabulary',
    ])
    expect((await plan(true)).loss).toBe('none')
    expect((await plan(false)).loss).toBe('content')
  })

  it('says that a part is too large', async () => {
    const data = { byteLength: 65 << 20, async *chunks() {} }
    const large = { kind: 'file', sharing: 'shared', name: 'big.bin', value: {}, data } as const
    const { plan } = await planConversion({ ...sampleModel([]), parts: [large] }, 'safetensors', { name: 'x' })
    expect(plan.actions).toContainEqual(
      expect.objectContaining({ name: 'big.bin', action: 'drop', reason: expect.stringContaining('64 MiB') }),
    )
  })
})

it('is shown as what it is', async () => {
  const model = featureModels['typed metadata']!
  const carried = await openModel(sourceOf(await convertToFiles(model, 'safetensors')))
  const [shown] = inspectModel(carried).parts
  expect(shown).toMatchObject({ kind: 'stowage', value: { from: 'memory', parts: [], tensors: [] } })
  expect((shown as { value: { metadata: string[] } }).value.metadata).toContain('u64')
})

it('is not followed down without end', async () => {
  const nested = (levels: number): string =>
    `{"version":1,"from":{"format":"oinf"},"tensors":[{"stored":"w","extra":{"a]\\"":${'['.repeat(levels)}${']'.repeat(levels)}}}]}`
  for (const [levels, isTaken] of [
    [100, true],
    [600, false],
    [200_000, false],
  ] as const) {
    const metadata = new Map([[stowageKey, text(nested(levels))]])
    expect(findStowage(metadata) !== undefined, `${levels} levels`).toBe(isTaken)
    const model = sampleModel([sampleTensor('w', 'f32', [1])], metadata)
    for (const id of ['gguf', 'aero', 'safetensors']) {
      const carried = await openModel(sourceOf(await convertToFiles(model, id)))
      expect((await diffModels(model, carried)).metadata.filter(({ change }) => change !== 'extra')).toEqual([])
    }
  }
})

describe('an entry that stands where stowage would', () => {
  const entries = [
    [stowageKey, text('my own text')],
    [`${stowageKey}.1`, text('more of it')],
    [`${stowageKey}.later`, text('other')],
    ['x', text('y')],
  ] as const
  const own = sampleModel([sampleTensor('w', 'u64', [2])], new Map(entries))

  it.each(formats.filter(({ capabilities }) => capabilities.write).map(({ id }) => id))(
    'comes through %s as the plan says',
    async (id) => {
      const files = await convertToFiles(own, 'safetensors', { stow: false })
      const model = await openModel(sourceOf(files))
      const { plan } = await planConversion(model, id, { name: 'm' })
      const carried = await openModel(sourceOf(await convertToFiles(model, id)), { from: id })
      const { equal, metadata } = await diffModels(model, carried)
      expect(plan.loss === 'none', JSON.stringify([metadata, [...plan.actions]])).toBe(equal)
      if (!equal) return
      const back = await openModel(sourceOf(await convertToFiles(carried, 'safetensors')))
      expect(new Map((await restoreStowed(back)).model.metadata)).toEqual(new Map(entries))
    },
  )
})
