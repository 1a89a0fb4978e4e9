import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  dtypeById,
  formatById,
  hashModel,
  listOf,
  type MetaList,
  type MetaValue,
  type Model,
  openModel,
  planConversion,
  verifySource,
} from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { fixtureBytes, fixtureSource, presentCases } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

fc.configureGlobal({ seed: 17 })

const capabilities = formatById('gguf')!.capabilities.write!

describe('writing again', () => {
  const others = /^(v2|big-endian|split\/model-00001)/
  const files = presentCases('gguf').filter((each) => each.verdict === 'accept' && !others.test(each.file))

  it.each(files)('$file gives the same bytes', async ({ file }) => {
    const model = await openModel(fixtureSource('gguf', file))
    const [bytes] = [...(await convertToFiles(model, 'gguf')).values()]
    expect(Buffer.compare(bytes!, fixtureBytes('gguf', file))).toBe(0)
  })

  it.each(['v1.gguf', 'v2.gguf', 'big-endian-plain.gguf', 'big-endian-quant.gguf'])(
    '%s gives version 3',
    async (file) => {
      const model = await openModel(fixtureSource('gguf', file))
      const again = await openModel(sourceOf(await convertToFiles(model, 'gguf')))
      expect([again.version, again.variant]).toEqual(['3', undefined])
      expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
      expect(plainMetadata(again)).toEqual(plainMetadata(model))
    },
  )

  it('repairs what other readers refuse', async () => {
    for (const file of ['irregular-order.gguf', 'irregular-gap.gguf', 'irregular-no-quantization-version.gguf']) {
      const model = await openModel(fixtureSource('gguf', file))
      const { findings } = await verifySource(sourceOf(await convertToFiles(model, 'gguf')))
      expect(findings.filter((finding) => finding.severity !== 'note').map((finding) => finding.code)).toEqual([])
    }
  })
})

const plainValue = (value: MetaValue): unknown =>
  value.type === 'array' ? [value.item, value.values().map(plainValue)] : value
const plainMetadata = (model: Model) => [...model.metadata].map(([key, value]) => [key, plainValue(value)])

const integer = (type: 'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32') => {
  const bits = Number(type.slice(1))
  const [min, max] = type.startsWith('u') ? [0, 2 ** bits - 1] : [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1]
  return fc.integer({ min, max }).map((value): MetaValue => ({ type, value }))
}

const scalars: readonly fc.Arbitrary<MetaValue>[] = [
  ...(['u8', 'i8', 'u16', 'i16', 'u32', 'i32'] as const).map(integer),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value): MetaValue => ({ type: 'u64', value })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): MetaValue => ({ type: 'i64', value })),
  fc.float({ noNaN: true }).map((value): MetaValue => ({ type: 'f32', value })),
  fc.double({ noNaN: true }).map((value): MetaValue => ({ type: 'f64', value })),
  fc.boolean().map((value): MetaValue => ({ type: 'bool', value })),
  fc.string({ unit: 'binary' }).map((value): MetaValue => ({ type: 'str', value })),
]

const lists = fc.oneof(
  ...scalars.map((item) =>
    fc.array(item, { minLength: 1, maxLength: 4 }).map((values): MetaValue => listOf(values[0]!.type, values)),
  ),
)
const nestedLists = fc.array(lists, { minLength: 1, maxLength: 3 }).map((values): MetaValue => listOf('array', values))
const key = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}(\.[a-z0-9_]{1,8}){0,2}$/)
const metadata = fc.uniqueArray(fc.tuple(key, fc.oneof(...scalars, lists, nestedLists)), {
  maxLength: 8,
  selector: ([k]) => k,
})

const typeIds = ['f32', 'f16', 'bf16', 'f64', 'i8', 'i16', 'i32', 'i64', 'ggml.q8_0', 'ggml.q4_k', 'ggml.mxfp4']
const tensors = fc.uniqueArray(
  fc.record({
    name: fc.string({ unit: 'grapheme', maxLength: 10 }),
    type: fc.constantFrom(...typeIds),
    outer: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
  }),
  { maxLength: 5, selector: ({ name }) => name },
)

describe('any model', () => {
  it('comes back as it was, at any alignment', async () => {
    await fc.assert(
      fc.asyncProperty(metadata, tensors, fc.constantFrom(undefined, 8, 64), async (entries, list, align) => {
        const model = sampleModel(
          list.map(({ name, type, outer }, i) => {
            const row = dtypeById(type)!.group.elements
            return sampleTensor(name, type, type.startsWith('ggml') ? [...outer, row] : outer, i + 1)
          }),
          new Map([['general.architecture', { type: 'str', value: 'tare' }], ...entries]),
        )
        const files = await convertToFiles(model, 'gguf', { align })
        const { findings } = await verifySource(sourceOf(files))
        expect(findings.filter((finding) => finding.severity === 'error')).toEqual([])
        const again = await openModel(sourceOf(files))
        expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
        const added = new Set(['general.alignment', 'general.quantization_version'])
        expect(plainMetadata(again).filter(([name]) => !added.has(name as string))).toEqual(plainMetadata(model))
        expect(again.tensors.map((tensor) => tensor.name)).toEqual(model.tensors.map((tensor) => tensor.name))
      }),
      { numRuns: 60 },
    )
  })

  it('states the alignment where it is not the default', async () => {
    const model = sampleModel([sampleTensor('a', 'f32', [3])])
    const plain = await openModel(sourceOf(await convertToFiles(model, 'gguf')))
    expect([...plain.metadata.keys()]).toEqual([])
    const wide = await openModel(sourceOf(await convertToFiles(model, 'gguf', { align: 4096 })))
    expect(wide.metadata.get('general.alignment')).toEqual({ type: 'u32', value: 4096 })
    expect(wide.tensors.at(0)!.data!.origin!.offset % 4096).toBe(0)
    const back = await openModel(sourceOf(await convertToFiles(wide, 'gguf', { align: 32 })))
    expect(back.metadata.get('general.alignment')).toEqual({ type: 'u32', value: 32 })
    for (const align of [4, 24, 2 ** 21]) {
      await expect(convertToFiles(model, 'gguf', { align })).rejects.toMatchObject({ code: 'usage/option' })
    }
  })
})

describe('what GGUF can hold', () => {
  it.each(['u8', 'bool', 'u32', 'u64', 'f8_e4m3', 'f8_e8m0', 'i4', 'c64'])('has no %s', (id) => {
    const fit = capabilities.tensor(sampleTensor('t', id, [4]))
    expect([fit.fits, fit.reason]).toEqual([false, expect.stringContaining(id)])
  })

  it('has no five dimensions, long names, tensors without data or broken rows', () => {
    const tensor = sampleTensor('t', 'f32', [1, 1, 1, 1, 2])
    expect(capabilities.tensor(tensor).fits).toBe(false)
    expect(capabilities.tensor({ ...sampleTensor('t', 'f32', [2]), data: null }).fits).toBe(false)
    expect(capabilities.tensor(sampleTensor(`a${'é'.repeat(31)}`, 'f32', [2])).fits).toBe(true)
    expect(capabilities.tensor(sampleTensor('é'.repeat(32), 'f32', [2])).fits).toBe(false)
    const blocks = sampleTensor('t', 'ggml.q8_0', [2, 32])
    expect(capabilities.tensor(blocks)).toEqual({ fits: true })
    expect(capabilities.tensor({ ...blocks, shape: [4, 16] })).toMatchObject({ fits: false })
  })

  it.each([63, 64, 65, 300])('holds a name of %i bytes, or brings it back', async (length) => {
    const name = 'n'.repeat(length)
    const { plan } = await planConversion(sampleModel([sampleTensor(name, 'f32', [2])]), 'gguf', { name: 'm.gguf' })
    expect(plan.loss).toBe('none')
    const files = await convertToFiles(sampleModel([sampleTensor(name, 'f32', [2])]), 'gguf')
    expect((await verifySource(sourceOf(files))).verdict).toBe('ok')
    const written = await openModel(sourceOf(files))
    expect(written.tensors.at(0)!.name).toBe(length < 64 ? name : 'tare.tensor.0')
    const back = await openModel(sourceOf(await convertToFiles(written, 'safetensors')))
    expect(back.tensors.at(0)!.name).toBe(name)
  })

  it('says that nobody states the architecture, when writing and without a warning when verifying', async () => {
    const tensors = [sampleTensor('w', 'f32', [2]), sampleTensor('q', 'ggml.q8_0', [2, 32])]
    const architecture: MetaValue = { type: 'str', value: 'llama' }
    for (const metadata of [new Map(), new Map([['hidden_size', { type: 'json', value: 3 } as MetaValue]])]) {
      const model = sampleModel(tensors, metadata)
      const { plan } = await planConversion(model, 'gguf', { name: 'm.gguf' })
      expect(plan.notes).toEqual([expect.stringContaining("set: { 'general.architecture': NAME }")])
      const { verdict, findings } = await verifySource(sourceOf(await convertToFiles(model, 'gguf')))
      const code = 'gguf/missing-architecture'
      expect(findings).toContainEqual(expect.objectContaining({ code, severity: 'note' }))
      expect(verdict).toBe('ok')
    }
    const known = sampleModel(tensors, new Map([['general.architecture', architecture]]))
    expect((await planConversion(known, 'gguf', { name: 'm.gguf' })).plan.notes).toEqual([])
  })

  it('takes packed blocks of another container as what they are', () => {
    const q4 = sampleTensor('t', 'ggml.q4_0', [2, 32])
    const fit = capabilities.tensor({ ...q4, dtype: dtypeById('packed')!, encoding: q4.dtype })
    expect(fit).toMatchObject({ fits: true, as: { dtype: { id: 'ggml.q4_0' } } })
    expect(fit.as!.data).toBe(q4.data)
    const broken = capabilities.tensor({ ...q4, dtype: dtypeById('packed')!, encoding: q4.dtype, shape: [3, 32] })
    expect(broken.fits).toBe(false)
  })

  it.each<[MetaValue, MetaValue | undefined]>([
    [
      { type: 'f16', value: 1.5 },
      { type: 'f32', value: 1.5 },
    ],
    [
      { type: 'u4', value: 15 },
      { type: 'u8', value: 15 },
    ],
    [
      { type: 'i2', value: -2 },
      { type: 'i8', value: -2 },
    ],
    [
      { type: 'json', value: { a: [1] } },
      { type: 'str', value: '{"a":[1]}' },
    ],
    [{ type: 'null' }, undefined],
    [{ type: 'bitset', bits: 3, value: Uint8Array.of(5) }, undefined],
  ])('%j becomes %j', (value, wanted) => {
    const fit = capabilities.metadata('k', value)
    expect([fit.fits, fit.as]).toEqual([wanted !== undefined, wanted])
  })

  it('wants lists of one type', () => {
    const [one, half, word] = [
      { type: 'u8', value: 1 },
      { type: 'f16', value: 0.5 },
      { type: 'str', value: 'x' },
    ] as const satisfies readonly MetaValue[]
    expect(capabilities.metadata('k', listOf('mixed', [one, word])).fits).toBe(false)
    expect(capabilities.metadata('k', listOf('mixed', [one, one])).as).toMatchObject({ item: 'u8', length: 2 })
    expect(capabilities.metadata('k', listOf('f16', [half])).as).toMatchObject({ item: 'f32' })
    expect(capabilities.metadata('k', listOf('mixed', [])).as).toMatchObject({ item: 'u8', length: 0 })
    expect(capabilities.metadata('k', listOf('array', [listOf('f16', [half])])).as).toMatchObject({ item: 'array' })
    const bytes = capabilities.metadata('k', { type: 'bytes', value: Uint8Array.of(1, 2) }).as as MetaList
    expect([bytes.item, bytes.values()]).toEqual(['u8', [one, { type: 'u8', value: 2 }]])
  })

  it('does not decode a list to find out', () => {
    const values = (): never => {
      throw new Error('decoded')
    }
    expect(capabilities.metadata('k', { type: 'array', item: 'str', length: 3, values })).toEqual({ fits: true })
  })

  it('refuses keys that readers refuse', () => {
    expect(capabilities.metadata('', { type: 'u8', value: 1 }).fits).toBe(false)
    expect(capabilities.metadata('k'.repeat(65_536), { type: 'u8', value: 1 }).fits).toBe(false)
    expect(capabilities.metadata('general.alignment', { type: 'str', value: '64' }).fits).toBe(false)
    expect(capabilities.metadata('general.alignment', { type: 'u32', value: 64 }).fits).toBe(true)
  })

  it('casts on the way, block types included', async () => {
    const model = sampleModel([sampleTensor('a', 'f32', [2, 256])].map((t) => ({ ...t, data: floats(512) })))
    const { plan } = await planConversion(model, 'gguf', { name: 'q.gguf', cast: 'ggml.q4_k' })
    expect(plan.actions.at(0)).toMatchObject({ action: 'cast', to: 'ggml.q4_k', loss: 'precision' })
    const again = await openModel(sourceOf(await convertToFiles(model, 'gguf', { cast: 'ggml.q4_k' })))
    expect(again.tensors.at(0)).toMatchObject({ dtype: { id: 'ggml.q4_k' }, data: { byteLength: 288 } })
    expect(again.metadata.get('general.quantization_version')).toEqual({ type: 'u32', value: 2 })
  })
})

function floats(count: number) {
  const values = Float32Array.from({ length: count }, (_, i) => Math.sin(i))
  const bytes = new Uint8Array(values.buffer)
  return {
    byteLength: bytes.byteLength,
    read: async (at: number, length: number) => bytes.subarray(at, at + length),
    async *chunks(window: number) {
      for (let at = 0; at < bytes.length; at += window) yield bytes.subarray(at, at + window)
    },
  }
}

describe('recognition', () => {
  const { detect, mainFile } = formatById('gguf')!

  it('goes by the first four bytes', () => {
    expect(detect(fixtureBytes('gguf', 'v2.gguf'), 'x.bin', 384)).toBe('yes')
    expect(detect(fixtureBytes('gguf', 'bad-magic.gguf'), 'x.gguf', 68)).toBe('maybe')
    expect(detect(fixtureBytes('gguf', 'bad-magic.gguf'), 'x.bin', 68)).toBe('no')
    expect(detect(new Uint8Array(0), 'x.bin', 0)).toBe('no')
  })

  it('finds the main file of a folder', () => {
    expect(mainFile!(['README.md', 'm.gguf'])).toBe('m.gguf')
    expect(mainFile!(['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'])).toBe('m-00001-of-00002.gguf')
    expect(mainFile!(['a.gguf', 'b.gguf'])).toBeUndefined()
    expect(mainFile!(['a.gguf', 'mmproj-a-f16.gguf', 'a.imatrix.gguf'])).toBe('a.gguf')
    expect(mainFile!(['mmproj-a.gguf'])).toBe('mmproj-a.gguf')
    expect(mainFile!(['a.txt'])).toBeUndefined()
  })
})
