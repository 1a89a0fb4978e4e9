import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tableOf, type Vocabulary, vocabularyOf, vocabularyPart } from '../../../src/content/vocabulary.js'
import { parseVocabularyText } from '../../../src/content/vocabulary-text.js'
import { dtypes } from '../../../src/formats/embd/structs.js'
import { formatById, hashModel, MemorySource, type Model, openModel, text } from '../../../src/kit.js'
import { orient } from '../../../src/transforms/orientation.js'
import { encoder } from '../../support/encoder.js'
import { fixtureBytes, fixturePath, fixtureSource } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { codesOf, layoutOf, sampleFile, sampleTokens, writeEmbd } from './build.js'

const open = (bytes: Uint8Array): Promise<Model> => openModel(new MemorySource(bytes, 'x.weights'))

describe('a round trip', () => {
  const name = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
  const shape = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 })
  const tensor = (types: readonly string[]) =>
    fc.record({ name, shape, type: fc.constantFrom(...types), seed: fc.nat(1000) })
  const tensors = (types: readonly string[]) =>
    fc.uniqueArray(tensor(types), { minLength: 1, maxLength: 6, selector: (each) => each.name })
  const tokens = fc.array(fc.uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 12 })
  const metadata = fc.array(fc.tuple(name, fc.string({ maxLength: 20, unit: 'grapheme' })), { maxLength: 5 })
  const manner = fc.record({ checksums: fc.constantFrom('on', 'off'), align: fc.constantFrom(1, 32, 64, 4096) })

  it('through the sectioned layout keeps everything', async () => {
    const types = dtypes.map(({ id }) => id)
    await fc.assert(
      fc.asyncProperty(tensors(types), tokens, metadata, manner, async (list, words, entries, { checksums, align }) => {
        const made = list.map((each) => sampleTensor(each.name, each.type, each.shape, each.seed))
        const model: Model = {
          ...sampleModel(made, new Map(entries.map(([key, value]) => [key, text(value)]))),
          parts: [vocabularyPart(tableOf(words))],
        }
        const bytes = await writeEmbd(model, { checksums }, align)
        const again = await open(bytes)
        expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
        expect(again.tensors.map((each) => each.name)).toEqual(made.map((each) => each.name))
        for (const [key, value] of model.metadata) expect(again.metadata.get(key)).toEqual(value)
        const got = vocabularyOf(again.parts)!.tokens
        expect(got.map((each) => [...each])).toEqual(words.map((each) => [...each]))
        if (align <= 64 && align !== 32) expect(Buffer.compare(await writeEmbd(again), bytes)).toBe(0)
        const errors = (await codesOf(bytes)).filter(
          (code) => !/utf8|duplicate-token|vocab-size|required-keys|name-control/.test(code),
        )
        expect(errors).toEqual([])
      }),
      { seed: 11, numRuns: 60 },
    )
  })

  it.each([
    ['many tensors', 10_000, (i: number) => `layer.${i}.größe`],
    ['long names', 140, (i: number) => String(i).padStart(65_535, 'n')],
  ])('through an index that is written and read in pieces: %s', async (_what, count, nameOf) => {
    const made = Array.from({ length: count }, (_, i) =>
      sampleTensor(nameOf(i), i % 3 ? 'f32' : 'i8', [1 + (i % 5)], i),
    )
    const bytes = await writeEmbd(sampleModel(made))
    const again = await open(bytes)
    expect(again.tensors.map((each) => each.name)).toEqual(made.map((each) => each.name))
    expect((await hashModel(again)).fingerprint).toBe((await hashModel(sampleModel(made))).fingerprint)
    expect((await codesOf(bytes)).filter((code) => !/required-keys/.test(code))).toEqual([])
    expect(Buffer.compare(await writeEmbd(again), bytes)).toBe(0)
  })

  it('through the stream layout keeps tensors and tokens, and then every byte', async () => {
    await fc.assert(
      fc.asyncProperty(tensors(['f32']), tokens, async (list, words) => {
        const made = list.map((each) => sampleTensor(each.name, 'f32', each.shape, each.seed))
        const model: Model = { ...sampleModel(made), parts: [vocabularyPart(tableOf(words))] }
        const bytes = await writeEmbd(model, { layout: 'stream' })
        const again = await open(bytes)
        expect(again.variant).toBe('stream')
        expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
        expect(vocabularyOf(again.parts)!.tokens.map((each) => [...each])).toEqual(words.map((each) => [...each]))
        expect(Buffer.compare(await writeEmbd(again), bytes)).toBe(0)
      }),
      { seed: 12, numRuns: 60 },
    )
  })

  it.each(['stream-tiny-bert-1layer.bin', 'stream-tiny-bert-2layer-utf8.bin', 'stream-tiny-bert-untransposed.bin'])(
    'gives the bytes of the reference writer: %s',
    async (file) => {
      const bytes = await writeEmbd(await openModel(fixtureSource('embd', file)))
      expect(Buffer.compare(bytes, fixtureBytes('embd', file))).toBe(0)
    },
  )
})

describe('between the layouts', () => {
  it('the tiny model is the same file either way', async () => {
    const sectioned = await openModel(fixtureSource('embd', 'sect-tiny-bert-1layer.weights'))
    const stream = await writeEmbd(orient(sectioned, 'in-out').model, { layout: 'stream' })
    expect(Buffer.compare(stream, fixtureBytes('embd', 'stream-tiny-bert-1layer.bin'))).toBe(0)
    const back = orient(await open(stream), 'out-in').model
    const { fingerprint } = await hashModel(await open(await writeEmbd(back, { layout: 'sectioned' })))
    expect(fingerprint).toBe((await hashModel(sectioned)).fingerprint)
  })

  it('says which way linear weights are wanted', () => {
    const { writeFor } = formatById('embd')!.capabilities
    const model = encoder('out-in', { hidden: 4, intermediate: 6 })
    expect(writeFor!(model, {}).orientation).toBe('out-in')
    expect(writeFor!(model, { layout: 'stream' }).orientation).toBe('in-out')
  })

  it('leaves them alone in a copy', async () => {
    const { writeFor } = formatById('embd')!.capabilities
    const model = await openModel(fixtureSource('embd', 'stream-tiny-bert-untransposed.bin'))
    expect(writeFor!(model, {}).orientation).toBe('as-is')
    expect(writeFor!(model, { layout: 'sectioned' }).orientation).toBe('out-in')
  })
})

describe('orientation', () => {
  const size = { hidden: 4, intermediate: 6, layers: 2 }
  it.each([
    ['in-out', 'stream', []],
    ['out-in', 'stream', ['embd/orientation']],
    ['out-in', 'sectioned', []],
    ['in-out', 'sectioned', ['embd/orientation']],
  ] as const)('%s in a %s file', async (orientation, layout, findings) => {
    const bytes = await writeAsIs(encoder(orientation, size), layout)
    const { parts } = await open(bytes)
    expect(parts.find(({ kind }) => kind === 'orientation')!.value).toEqual({ linear: orientation, tensors: 12 })
    expect((await codesOf(bytes)).filter((code) => !code.endsWith('required-keys'))).toEqual(findings)
  })

  it('is assumed where the shapes do not tell', async () => {
    const bytes = await writeAsIs(encoder('in-out', { hidden: 4, intermediate: 4 }), 'stream')
    const { parts } = await open(bytes)
    expect(parts.at(-1)!.value).toEqual({ linear: 'undecidable', assumed: 'in-out', tensors: 6 })
  })

  /** Straight to the layout: a conversion would turn the weights. */
  async function writeAsIs(model: Model, layout: string): Promise<Uint8Array> {
    const { MemorySink, writeLayout } = await import('../../../src/kit.js')
    const files = new Map<string, Uint8Array>()
    const written = await (await formatById('embd')!.load()).layout!(model, { name: 'x.weights', extra: { layout } })
    await writeLayout(written, async (name) => new MemorySink(name, files))
    return files.get('x.weights')!
  }
})

describe('metadata of models that have none', () => {
  it('come from the tensors, in the order of the document', async () => {
    const model = encoder('out-in', { hidden: 384, intermediate: 8, layers: 2, vocab: 5, positions: 3 })
    const { metadata } = await open(
      await writeEmbd({ ...model, files: [new MemorySource(new Uint8Array(0), 'dir/my.model.bin')] }),
    )
    expect([...metadata].map(([key, value]) => [key, value.type === 'str' && value.value])).toEqual([
      ['model_name', 'my.model'],
      ['model_version', '1.0.0'],
      ['embedding_dim', '384'],
      ['vocab_size', '5'],
      ['num_layers', '2'],
      ['num_attention_heads', '12'],
      ['hidden_size', '384'],
      ['intermediate_size', '8'],
      ['max_position_emb', '3'],
      ['created_at', '1970-01-01T00:00:00Z'],
    ])
  })

  it('know the names of DistilBERT', async () => {
    const model = encoder('out-in', { hidden: 4, intermediate: 8, layers: 2 })
    const renamed = model.tensors.map((tensor) => ({
      ...tensor,
      name: tensor.name
        .replace('encoder.layer.', 'transformer.layer.')
        .replace('.intermediate.dense.', '.ffn.lin1.')
        .replace('.output.dense.', '.ffn.lin2.'),
    }))
    const { metadata } = await open(await writeEmbd({ ...model, tensors: renamed }))
    expect([metadata.get('num_layers'), metadata.get('intermediate_size')]).toEqual([text('2'), text('8')])
  })

  it('take what is given, and invent nothing', async () => {
    const model = {
      ...encoder('out-in', { hidden: 4, intermediate: 8 }),
      metadata: new Map([
        ['note', text('x')],
        ['hidden_size', text('7')],
      ]),
    }
    const { metadata } = await open(await writeEmbd(model, { heads: 2 }))
    expect(metadata.get('num_attention_heads')).toEqual(text('2'))
    expect(metadata.get('hidden_size')).toEqual(text('7'))
    expect([...metadata.keys()].at(-1)).toBe('note')
    const plain = await open(await writeEmbd(sampleModel([sampleTensor('w', 'f32', [2])])))
    expect([...plain.metadata.keys()]).toEqual(['model_name', 'model_version', 'created_at'])
    await expect(writeEmbd(model, { heads: 0 })).rejects.toThrow(expect.objectContaining({ code: 'usage/option' }))
  })
})

describe('the order of tensors', () => {
  it('is the converter’s for models from elsewhere, and kept in a copy', async () => {
    const model = encoder('out-in', { hidden: 4, intermediate: 6, layers: 11 })
    const wanted = model.tensors.map(({ name }) => name)
    const extra = sampleTensor('zz.extra', 'f32', [1])
    const shuffled = { ...model, tensors: [extra, ...[...model.tensors].reverse()] }
    const bytes = await writeEmbd(shuffled)
    expect((await open(bytes)).tensors.map(({ name }) => name)).toEqual([...wanted, 'zz.extra'])
    const read = await open(bytes)
    const turned = await open(await writeEmbd({ ...read, tensors: [...read.tensors].reverse() }))
    expect(turned.tensors.at(0)!.name).toBe('zz.extra')
  })
})

describe('what does not fit', () => {
  const { sectioned, stream } = (() => {
    const { writeFor } = formatById('embd')!.capabilities
    const model = sampleModel([])
    return { sectioned: writeFor!(model, {}), stream: writeFor!(model, { layout: 'stream' }) }
  })()

  it('is answered for tensors', () => {
    expect(sectioned.tensor(sampleTensor('a', 'f64', [1]))).toMatchObject({ fits: false })
    expect(sectioned.tensor(sampleTensor('a', 'bf16', [1]))).toEqual({ fits: true })
    expect(stream.tensor(sampleTensor('a', 'bf16', [1]))).toMatchObject({ fits: false })
    for (const each of [sectioned, stream]) {
      expect(each.tensor(sampleTensor('a', 'f32', [1, 1, 1, 1, 1]))).toMatchObject({ fits: false })
      expect(each.tensor(sampleTensor('a', 'f32', [2, 0]))).toMatchObject({ fits: false })
      expect(each.tensor({ ...sampleTensor('a', 'f32', [1]), data: null })).toMatchObject({ fits: false })
      expect(each.tensor(sampleTensor('a', 'f32', []))).toMatchObject({ fits: true, as: { shape: [1] } })
      const quant = { scheme: 'symmetric', scales: [1] } as const
      expect(each.tensor({ ...sampleTensor('a', 'f32', [1]), quant })).toMatchObject({ fits: false })
    }
    expect(sectioned.tensor(sampleTensor('n'.repeat(65_536), 'f32', [1]))).toMatchObject({ fits: false })
    expect(stream.tensor(sampleTensor('n'.repeat(65_536), 'f32', [1]))).toEqual({ fits: true })
  })

  it('is answered for metadata', () => {
    expect(stream.metadata('a', text('b'))).toMatchObject({ fits: false })
    expect(sectioned.metadata('a', { type: 'u32', value: 7 })).toMatchObject({ fits: true, as: text('7') })
    expect(sectioned.metadata('a', { type: 'bytes', value: new Uint8Array(1) })).toMatchObject({ fits: false })
    expect(sectioned.metadata('a', text('b'.repeat(65_536)))).toMatchObject({ fits: false })
  })

  it('is answered for vocabularies', () => {
    const all = vocabularyPart(tableOf(sampleTokens))
    expect(sectioned.part(all)).toEqual({ fits: true })
    expect(stream.part(all)).toEqual({ fits: true })
    const odd = vocabularyPart(tableOf(sampleTokens), { pad: 7, unk: 1, cls: 2, sep: 3, mask: 4 })
    expect(sectioned.part(odd)).toEqual({ fits: true })
    const byText = stream.part(odd)
    expect((byText.as!.content as Vocabulary).special.pad).toBe(0)
    const four = vocabularyPart(tableOf(sampleTokens.slice(0, 4)), { pad: 3 })
    expect((sectioned.part(four).as!.content as Vocabulary).special).toEqual({ pad: 0, unk: 1, cls: 2, sep: 3 })
    expect(sectioned.part(vocabularyPart(tableOf([new Uint8Array(65_536)])))).toMatchObject({ fits: false })
    expect(stream.part(vocabularyPart(tableOf(new Array(100_001).fill(new Uint8Array(0)))))).toMatchObject({
      fits: false,
    })
    expect(sectioned.part({ kind: 'file', sharing: 'shared', value: null })).toMatchObject({ fits: false })
  })

  it('is refused by the writer too', async () => {
    const { layout } = await formatById('embd')!.load()
    const write = (model: Model, extra = {}) => layout!(model, { name: 'x', extra })
    const refused = (code: string) => expect.objectContaining({ code })
    const one = (...shape: number[]) => sampleModel([sampleTensor('w', 'f32', shape)])
    await expect(write(sampleModel([]))).rejects.toThrow(refused('embd/write-limit'))
    await expect(write(one(1, 1, 1, 1, 1))).rejects.toThrow(refused('embd/write-limit'))
    await expect(write(one(0), { layout: 'stream' })).rejects.toThrow(refused('embd/write-limit'))
    await expect(write(sampleModel([sampleTensor('w', 'f64', [1])]))).rejects.toThrow(
      refused('write/dtype-unsupported'),
    )
    await expect(write(sampleModel([sampleTensor('w', 'f16', [1])]), { layout: 'stream' })).rejects.toThrow(
      refused('write/dtype-unsupported'),
    )
    await expect(write(sampleModel([sampleTensor('', 'f32', [1])]))).rejects.toThrow(refused('write/name-unsupported'))
    await expect(write(one(1), { layout: 'flat' })).rejects.toThrow(refused('usage/option'))
    await expect(write(one(1), { checksums: 'yes' })).rejects.toThrow(refused('usage/option'))
    const long = { ...one(1), parts: [vocabularyPart(tableOf([new Uint8Array(65_536)]))] }
    await expect(write(long)).rejects.toThrow(refused('embd/write-limit'))
  })
})

describe('alignment and checksums', () => {
  it('are kept in a copy, and written as asked', async () => {
    const packed = await writeEmbd(sampleFile(), { checksums: 'off' }, 1)
    const at = layoutOf(packed)
    expect(at.dataSize).toBe(36 + 5 + 16)
    expect(new DataView(packed.buffer).getUint32(8, true)).toBe(1)
    expect([...packed.subarray(at.footer, at.footer + 8)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
    expect(await codesOf(packed)).toEqual([])
    const copy = await open(packed)
    expect(Buffer.compare(await writeEmbd(copy), packed)).toBe(0)
    const full = await writeEmbd(copy, { checksums: 'on' }, 64)
    expect(Buffer.compare(full, await writeEmbd(sampleFile()))).toBe(0)
  })
})

const vocabulary = fixturePath('embd', 'bert-uncased.vocab.txt')
describe.skipIf(!existsSync(vocabulary))('the vocabulary of BERT', () => {
  it('is written in both layouts as it should be', async () => {
    const { part, warnings } = parseVocabularyText(new Uint8Array(readFileSync(vocabulary)))
    expect(warnings).toEqual([])
    expect(part.value).toEqual({ tokens: 30522, special: { pad: 0, unk: 100, cls: 101, sep: 102, mask: 103 } })
    const model: Model = { ...sampleModel([sampleTensor('w', 'f32', [1])]), parts: [part] }
    const sectioned = await writeEmbd(model)
    expect(new DataView(sectioned.buffer).getUint32(24, true)).toBe(262_062)
    const stream = await writeEmbd(model, { layout: 'stream' })
    expect(stream.byteLength - (12 + 4 + 1 + 4 + 4 + 4)).toBe(323_078)
  })
})
