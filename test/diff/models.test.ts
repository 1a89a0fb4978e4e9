import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8, MemorySource } from '../../src/bytes/index.js'
import { tableOf, vocabularyPart } from '../../src/content/vocabulary.js'
import { diffModels } from '../../src/diff/index.js'
import { f16, f32 } from '../../src/dtypes/index.js'
import { openModel } from '../../src/formats/index.js'
import { hashModel } from '../../src/inspect/hash.js'
import {
  bytesPayload,
  listOf,
  type MetaValue,
  type Model,
  type Part,
  type Tensor,
  text,
} from '../../src/model/index.js'
import { castTensor } from '../../src/transforms/cast.js'
import { columnMajor } from '../../src/transforms/reorder.js'
import * as craft from '../formats/torch/build.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { encoder } from '../support/encoder.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { encoded, tensorOf } from '../transforms/tensors.js'

const vector = (name: string, values: readonly number[]): Tensor =>
  tensorOf(f32, [values.length], encoded(f32, values), { name })
const withMetadata = (entries: Record<string, MetaValue>): Model => sampleModel([], new Map(Object.entries(entries)))
const withParts = (...parts: Part[]): Model => ({ ...sampleModel([]), parts })

const types = ['f32', 'f16', 'i8', 'i64', 'bool', 'i4', 'ggml.q8_0']
const tensors = fc
  .uniqueArray(fc.string({ maxLength: 6 }), { maxLength: 6 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc
          .tuple(fc.constantFrom(...types), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 50 }))
          .map(([type, rows, seed]) => sampleTensor(name, type, [rows, 32], seed)),
      ),
    ),
  )

describe('equal models', () => {
  it('have no differences, in any order of tensors and elements', async () => {
    await fc.assert(
      fc.asyncProperty(tensors, async (list) => {
        const turned = list.toReversed().map((tensor) => (tensor.dtype.id === 'f32' ? columnMajor(tensor) : tensor))
        const found = await diffModels(sampleModel(list), sampleModel(turned))
        expect(found).toMatchObject({ equal: true, tensors: [], metadata: [], parts: [] })
        expect(found.summary.tensors).toMatchObject({ equal: list.length, changed: 0, missing: 0, extra: 0 })
      }),
      { numRuns: 40 },
    )
  })

  it('are those with the same fingerprint', async () => {
    await fc.assert(
      fc.asyncProperty(tensors, tensors, fc.boolean(), async (one, two, isSame) => {
        const [a, b] = [sampleModel(one), sampleModel(isSame ? one.slice() : two)]
        const [x, y] = [await hashModel(a), await hashModel(b)]
        expect((await diffModels(a, b)).equal).toBe(x.fingerprint === y.fingerprint)
      }),
      { numRuns: 60 },
    )
  })
})

describe('structure', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((name, i) => sampleTensor(name, 'f32', [4, 4], i + 1)) as [
    Tensor,
    Tensor,
    Tensor,
  ]

  it('what only one model has is missing or extra', async () => {
    const other = sampleTensor('d', 'f16', [2])
    const found = await diffModels(sampleModel([a, b]), sampleModel([b, other]))
    expect(found.tensors).toEqual([
      { name: 'a', change: 'missing', a: { name: 'a', dtype: 'f32', shape: [4, 4], bytes: 64 } },
      { name: 'd', change: 'extra', b: { name: 'd', dtype: 'f16', shape: [2], bytes: 4 } },
    ])
    expect(found).toMatchObject({ equal: false, summary: { tensors: { equal: 1, missing: 1, extra: 1, renamed: 0 } } })
  })

  it('the same content under another name is renamed', async () => {
    const renamed = columnMajor({ ...a, name: 'z' })
    const found = await diffModels(sampleModel([a, b]), sampleModel([c, renamed]), { tolerance: 1 })
    expect(found.tensors.map(({ name, change }) => [name, change])).toEqual([
      ['b', 'missing'],
      ['c', 'extra'],
      ['a', 'renamed'],
    ])
    expect(found.tensors.at(-1)!.b!.name).toBe('z')
    expect(found.equal).toBe(false)
  })

  it('equal contents are paired in the order in which they come', async () => {
    const zeros = (name: string): Tensor => vector(name, [0, 0])
    const found = await diffModels(
      sampleModel([zeros('x.0'), zeros('x.1'), zeros('x.2')]),
      sampleModel([zeros('y.0'), zeros('y.1')]),
    )
    expect(found.tensors.map(({ name, b: other }) => [name, other?.name])).toEqual([
      ['x.2', undefined],
      ['x.0', 'y.0'],
      ['x.1', 'y.1'],
    ])
  })

  it('a name that was made from that of the file is no difference', async () => {
    const npy = async (name: string, ...values: number[]): Promise<Model> => {
      const files = await convertToFiles(sampleModel([vector('w', values)]), 'npy', { name })
      return openModel(sourceOf(files))
    }
    const bare = craft.tensor(craft.storage('0', 'torch FloatStorage', 2), [2])
    const pt = (name: string): Promise<Model> =>
      openModel(new MemorySource(craft.archive(bare, { '0': new Uint8Array(8) }), name))
    const named = openModel(
      sourceOf(await convertToFiles(sampleModel([vector('v', [1, 2])]), 'npz', { name: 'b.npz' })),
    )
    expect((await diffModels(await npy('a.npy', 1, 2), await npy('b.npy', 1, 2))).equal).toBe(true)
    expect((await diffModels(await pt('a.pt'), await pt('b.pt'))).equal).toBe(true)
    expect((await diffModels(await pt('a.pt'), await npy('b.npy', 0, 0))).equal).toBe(true)
    const changed = await diffModels(await npy('a.npy', 1, 2), await npy('b.npy', 1, 3))
    expect(changed.summary.tensors).toMatchObject({ changed: 1, renamed: 0, missing: 0 })
    expect((await diffModels(await npy('a.npy', 1, 2), await named)).equal).toBe(false)
    const unwanted = await diffModels(await npy('a.npy', 1), await npy('b.npy', 2), { tensors: ['x*'] })
    expect(unwanted.equal).toBe(true)
  })

  it('only tensors that can have been renamed are read', async () => {
    let reads = 0
    const watched = (tensor: Tensor): Tensor => {
      const data = tensor.data!
      const chunks: typeof data.chunks = (...args) => {
        reads++
        return data.chunks(...args)
      }
      return { ...tensor, data: { byteLength: data.byteLength, chunks } }
    }
    const models = [[a, vector('v', [1])], [sampleTensor('d', 'f32', [2, 8])]].map((list) =>
      sampleModel(list.map(watched)),
    )
    await diffModels(models[0]!, models[1]!)
    expect(reads).toBe(0)
  })

  it('names that look alike are told apart by what they are made of', async () => {
    const one = { ...vector('a.b.c', [1]), path: ['a', 'b.c'] }
    const two = { ...vector('a.b.c', [2]), path: ['a.b', 'c'] }
    expect(await diffModels(sampleModel([one, two]), sampleModel([two, one]))).toMatchObject({ equal: true })
    expect(await diffModels(sampleModel([one]), sampleModel([vector('a.b.c', [1])]))).toMatchObject({ equal: true })
  })

  it('a choice of names leaves everything else out', async () => {
    const found = await diffModels(
      sampleModel([a, b], new Map([['k', text('1')]])),
      sampleModel([{ ...b, name: 'a' }, { ...b }]),
      { tensors: ['b'] },
    )
    expect(found).toMatchObject({ equal: true, metadata: [], summary: { tensors: { equal: 1 } } })
    expect(found.summary).not.toHaveProperty('metadata')
  })
})

describe('a tolerance', () => {
  const base = [1, 2, 4, 1000]
  const model = (...values: number[][]): Model => sampleModel(values.map((each, i) => vector(`t${i}`, each)))
  const judge = async (changed: number[], options: Parameters<typeof diffModels>[2]): Promise<boolean> =>
    (await diffModels(model(base), model(changed), options)).equal

  it.each<[unknown, boolean]>([
    [undefined, false],
    [0, false],
    [0.01, true],
    [{ abs: 1, rel: 0 }, true],
    [{ abs: 0.5, rel: 0 }, false],
    [{ abs: 0, rel: 0.00101 }, true],
    [{ abs: 0, rel: 0.0009 }, false],
  ])('of %j for single elements', async (tolerance, equal) => {
    expect(await judge([1, 2, 4, 1001], { tolerance: tolerance as number })).toBe(equal)
  })

  it.each<[string, number, boolean]>([
    ['max-abs', 1, true],
    ['max-abs', 0.9, false],
    ['max-rel', 0.001, true],
    ['max-rel', 0.0009, false],
    ['rmse', 0.5, true],
    ['rmse', 0.4, false],
    ['snr', 60, true],
    ['snr', 61, false],
    ['cosine', 0.99, true],
    ['cosine', 1, false],
    ['differing', 1, true],
    ['differing', 0, false],
  ])('for %s of %d', async (metric, tolerance, equal) => {
    expect(await judge([1, 2, 4, 1001], { metric: metric as 'rmse', tolerance })).toBe(equal)
  })

  it('lets element types pass, and shows what it let pass', async () => {
    const a = model(base, [0.1, 3])
    const b = { ...a, tensors: a.tensors.map((tensor) => castTensor(tensor, f16)) }
    const exact = await diffModels(a, b)
    expect([exact.equal, exact.summary.tensors.changed]).toEqual([false, 2])
    expect(exact.tensors.map(({ name, change }) => [name, change])).toEqual([
      ['t1', 'values'],
      ['t0', 'type'],
    ])
    const close = await diffModels(a, b, { tolerance: 1e-3 })
    expect(close).toMatchObject({ equal: true, summary: { tensors: { equal: 0, changed: 0, close: 2 } } })
    expect(close.tensors.every((each) => each.close)).toBe(true)
    expect(close.tensors.find(({ name }) => name === 't1')!.values!.beyond).toBe(0)
  })

  it('that cannot be used is refused', async () => {
    const refused = (options: Parameters<typeof diffModels>[2]) =>
      expect(diffModels(model(), model(), options)).rejects.toMatchObject({ code: 'usage/option' })
    await refused({ tolerance: -1 })
    await refused({ tolerance: Number.NaN })
    await refused({ tolerance: { abs: 0, rel: -1 } })
    await refused({ tolerance: { abs: 0, rel: 0 }, metric: 'rmse' })
    expect((await diffModels(model(), model(), { tolerance: -3, metric: 'snr' })).equal).toBe(true)
  })

  it('differences come in the order of how grave they are', async () => {
    const a = model([1, 1], [1, 1], [1, 1], [1, 1], [1, 1], [0, 0])
    const b = model([1, 1.5], [1, 1.001], [1, Number.NaN], [1, 9], [1, 1 + 1e-6], [0, 1])
    const names = async (options?: Parameters<typeof diffModels>[2]) =>
      (await diffModels(a, b, options)).tensors.map(({ name }) => name).join(' ')
    expect(await names()).toBe('t2 t5 t3 t0 t1 t4')
    expect(await names({ metric: 'max-abs' })).toBe('t2 t3 t5 t0 t1 t4')
    expect(await names({ tolerance: 0.1 })).toBe('t2 t5 t3 t0 t1 t4')
    expect(await names({ metric: 'max-abs', tolerance: 1 })).toBe('t2 t3 t5 t0 t1 t4')
  })
})

describe('metadata', () => {
  const number = (type: 'u32' | 'i64' | 'f32' | 'f64', value: number | bigint) => ({ type, value }) as MetaValue
  const compare = (a: MetaValue, b: MetaValue, tolerance?: number) =>
    diffModels(withMetadata({ k: a }), withMetadata({ k: b }), { tolerance })

  it('lists what is missing, extra and different', async () => {
    const found = await diffModels(
      withMetadata({ same: text('x'), gone: text('y'), changed: number('u32', 1) }),
      withMetadata({ changed: number('u32', 2), same: text('x'), __proto__2: text('z') }),
    )
    expect(found.metadata).toEqual([
      { key: 'gone', change: 'missing', a: { type: 'str', value: 'y' } },
      { key: 'changed', change: 'value', a: { type: 'u32', value: 1 }, b: { type: 'u32', value: 2 } },
      { key: '__proto__2', change: 'extra', b: { type: 'str', value: 'z' } },
    ])
    expect(found.summary.metadata).toEqual({ equal: 1, changed: 1, close: 0, missing: 1, extra: 1 })
    expect(found.equal).toBe(false)
  })

  const list = (...items: MetaValue[]): MetaValue => listOf('mixed', items)
  const json = (value: unknown): MetaValue => ({ type: 'json', value }) as MetaValue
  const bytes = (...value: number[]): MetaValue => ({ type: 'bytes', value: Uint8Array.from(value) })

  it.each<[string, MetaValue, MetaValue, string | undefined]>([
    ['integers of two types', number('u32', 8), number('i64', 8n), 'type'],
    ['other integers', number('i64', 2n ** 60n), number('i64', 2n ** 60n + 1n), 'value'],
    ['an integer and a float', number('u32', 8), number('f64', 8), 'type'],
    ['an integer that the float rounds', number('i64', 2n ** 53n + 1n), number('f64', 2 ** 53), 'value'],
    ['a number and its text', number('u32', 8), text('8'), 'value'],
    ['a text and JSON', text('a'), json('a'), 'type'],
    ['a flag and a number', { type: 'bool', value: true }, number('u32', 1), 'value'],
    ['objects with keys in another order', json({ a: 1, b: [2] }), json({ b: [2], a: 1 }), undefined],
    ['other objects', json({ a: 1 }), json({ a: 2 }), 'value'],
    ['an object and a list', json({ 0: 1 }), json([1]), 'value'],
    ['lists', list(text('a'), text('b')), list(text('a'), text('b')), undefined],
    ['lists of other types', list(number('u32', 1)), json([1]), 'type'],
    ['lists of other lengths', list(text('a')), list(text('a'), text('b')), 'value'],
    ['bytes', bytes(1, 2), bytes(1, 2), undefined],
    ['other bytes', bytes(1, 2), bytes(1, 3), 'value'],
    ['bytes and numbers', bytes(1), json([1]), 'value'],
    ['NaN', { type: 'f32', value: Number.NaN, bits: 1n }, { type: 'f32', value: Number.NaN, bits: 1n }, undefined],
    [
      'another NaN',
      { type: 'f32', value: Number.NaN, bits: 1n },
      { type: 'f32', value: Number.NaN, bits: 2n },
      'value',
    ],
    ['nothing', { type: 'null' }, json(null), 'type'],
    [
      'texts that are no UTF-8',
      { type: 'str', value: '\ufffd', bytes: Uint8Array.of(255) },
      { type: 'str', value: '\ufffd', bytes: Uint8Array.of(254) },
      'value',
    ],
    [
      'flags',
      { type: 'bitset', bits: 3, value: Uint8Array.of(5) },
      { type: 'bitset', bits: 4, value: Uint8Array.of(5) },
      'value',
    ],
    [
      'arrays',
      { type: 'ndarray', dtype: f32, shape: [1], value: encoded(f32, [1]) },
      { type: 'ndarray', dtype: f32, shape: [1], value: encoded(f32, [1]) },
      undefined,
    ],
  ])('%s', async (_, a, b, change) => {
    for (const [x, y] of [
      [a, b],
      [b, a],
    ] as const) {
      const found = await compare(x, y)
      expect(found.metadata[0]?.change).toBe(change)
      expect(found.equal).toBe(change === undefined)
    }
  })

  it('says where lists part', async () => {
    const found = await compare(list(text('a'), text('b'), text('c')), list(text('a'), text('x'), text('y')))
    expect(found.metadata[0]).toMatchObject({ change: 'value', first: 1 })
  })

  it('a tolerance is about numbers in it, and types then do not count', async () => {
    const rounded = [number('f32', Math.fround(0.1)), number('f64', 0.1)] as const
    expect(await compare(...rounded, 0)).toMatchObject({ equal: false })
    expect(await compare(...rounded, 1e-6)).toMatchObject({ equal: true, metadata: [{ change: 'value', close: true }] })
    expect(await compare(number('u32', 8), number('i64', 8), 0)).toMatchObject({ equal: true })
    expect(await compare(json([0.1]), json([0.1 + 1e-9]), 1e-6)).toMatchObject({
      equal: true,
      metadata: [{ first: 0 }],
    })
  })
})

describe('parts', () => {
  const file = (name: string, content: string): Part => ({
    ...{ kind: 'file', sharing: 'shared', name, value: { bytes: content.length } },
    data: bytesPayload(encodeUtf8(content)),
  })
  const words = (...tokens: string[]): Part => vocabularyPart(tableOf(tokens.map(encodeUtf8)))

  it('are compared by what they show and by their bytes', async () => {
    const found = await diffModels(
      withParts(file('same', 'abc'), file('other', 'abc'), file('long', 'abc'), file('gone', '')),
      withParts(file('long', 'abcd'), file('other', 'abx'), file('same', 'abc'), file('new', '')),
    )
    expect(found.parts).toMatchObject([
      { kind: 'file', name: 'gone', change: 'missing' },
      { kind: 'file', name: 'new', change: 'extra' },
      { name: 'other', change: 'bytes', first: 2 },
      { name: 'long', change: 'value', a: { bytes: 3 }, b: { bytes: 4 } },
    ])
    expect(found).toMatchObject({ equal: false, summary: { parts: { equal: 1, changed: 2, missing: 1, extra: 1 } } })
  })

  it('of vocabularies the tokens count', async () => {
    expect(await diffModels(withParts(words('a', 'b')), withParts(words('a', 'b')))).toMatchObject({ equal: true })
    const found = await diffModels(withParts(words('a', 'b', 'c')), withParts(words('a', 'x', 'c')))
    expect(found.parts).toMatchObject([{ kind: 'vocabulary', change: 'value', first: 1 }])
    const shorter = await diffModels(withParts(words('a', 'b')), withParts(words('a')))
    expect(shorter.parts).toMatchObject([{ first: 1 }])
  })

  it('that follow from the rest are left out', async () => {
    const derived: Part = { kind: 'pages', sharing: 'derived', value: 1 }
    expect(await diffModels(withParts(derived), withParts())).toMatchObject({ equal: true, parts: [] })
  })
})

it('tells how far it is, and can be cancelled', async () => {
  const a = sampleModel([sampleTensor('a', 'f32', [512, 1024]), sampleTensor('x', 'f32', [8], 3)])
  const b = sampleModel([sampleTensor('a', 'f32', [512, 1024], 2), sampleTensor('y', 'f32', [8], 3)])
  const seen: { done: number; total: number }[] = []
  await diffModels(a, b, { onProgress: (progress) => seen.push(progress) })
  expect(seen.length).toBeGreaterThan(4)
  expect(seen.every(({ done, total }, i) => done <= total && done >= (seen[i - 1]?.done ?? 0))).toBe(true)
  expect(seen.at(-1)).toMatchObject({ done: 4 * 2 ** 20 + 64, total: 4 * 2 ** 20 + 64 })
  const signal = AbortSignal.abort()
  await expect(diffModels(a, b, { signal })).rejects.toMatchObject({ code: 'io/aborted' })
})

describe('what a conversion only puts differently', () => {
  it('what a container carries for another one counts as what it stands for', async () => {
    const state: MetaValue = { type: 'u16', value: 7 }
    const model = sampleModel([sampleTensor('w', 'i2', [8])], new Map([['k', state]]))
    const carried = await openModel(sourceOf(await convertToFiles({ ...model, format: 'oinf' }, 'safetensors')))
    expect(await diffModels(model, carried)).toMatchObject({ equal: true })
    expect(await diffModels(model, carried, { stow: false })).toMatchObject({ equal: false })
  })

  it('linear weights may lie the other way round where a model says which way they lie', async () => {
    const size = { hidden: 6, intermediate: 10 }
    const says = (model: Model, linear: string): Model => ({
      ...model,
      parts: [{ kind: 'orientation', sharing: 'derived', value: { linear } }],
    })
    const [turned, plain] = [encoder('in-out', size), encoder('out-in', size)]
    expect((await diffModels(says(turned, 'in-out'), plain)).equal).toBe(true)
    expect((await diffModels(plain, says(turned, 'in-out'))).equal).toBe(true)
    expect((await diffModels(says(turned, 'in-out'), turned)).equal).toBe(true)
    expect((await diffModels(turned, plain)).equal).toBe(false)
  })
})
