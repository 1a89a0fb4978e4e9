// What goes into an OINF file comes out of it as it was: models of every type, both versions, and what OINF has no type for.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesPayload,
  dtypeById,
  type Finding,
  hashModel,
  listOf,
  type MetaValue,
  type Model,
  openModel,
  type Part,
  planConversion,
  type QuantParams,
  readPayload,
  type Tensor,
  text,
  verifySource,
} from '../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const elementIds = 'i8 i16 i32 i64 u8 u16 u32 u64 f16 f32 f64 bool bitset bf16 f8_e5m2 i4 i2 i1 u4 u2 u1 t2 t1'.split(
  ' ',
)
const arrayIds = elementIds.filter((id) => id !== 'bitset')

async function rewrite(model: Model, extra: Record<string, number> = {}): Promise<Model> {
  return openModel(sourceOf(await convertToFiles(model, 'oinf', { name: 'out.oinf', extra })))
}

const ranges: Record<string, readonly [bigint, bigint]> = {
  ...Object.fromEntries([1, 2, 4, 8, 16, 32, 64].map((bits) => [`u${bits}`, [0n, 2n ** BigInt(bits) - 1n] as const])),
  ...Object.fromEntries(
    [1, 2, 4, 8, 16, 32, 64].map((bits) => [
      `i${bits}`,
      [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n] as const,
    ]),
  ),
}

const integers = fc.constantFrom(...Object.keys(ranges)).chain((type) => {
  const [min, max] = ranges[type]!
  const isWide = type.endsWith('64')
  return fc.bigInt({ min, max }).map((value) => ({ type, value: isWide ? value : Number(value) }) as MetaValue)
})
const floats = fc.oneof(
  fc.float({ noNaN: true }).map((value): MetaValue => ({ type: 'f32', value })),
  fc.double({ noNaN: true }).map((value): MetaValue => ({ type: 'f64', value })),
  fc.constant<MetaValue>({ type: 'f16', value: -0 }),
  fc.constant<MetaValue>({ type: 'f32', value: Number.NaN, bits: 0xffc0_1234n }),
  fc.constant<MetaValue>({ type: 'f64', value: Number.NaN, bits: 0x7ff8_0000_dead_beefn }),
  fc.constant<MetaValue>({ type: 'f8_e5m2', value: Number.NaN, bits: 0x7dn }),
  fc.constant<MetaValue>({ type: 'bf16', value: Infinity }),
)
const scalars = fc.oneof(
  integers,
  floats,
  fc.constantFrom<MetaValue>({ type: 't2', value: -2 }, { type: 't2', value: 1 }, { type: 't1', value: -1 }),
  fc.boolean().map((value): MetaValue => ({ type: 'bool', value })),
)
const arrays = fc
  .tuple(fc.constantFrom(...arrayIds), fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 3 }))
  .map(([id, shape]): MetaValue => {
    const dtype = dtypeById(id)!
    // All bits 0, which is right for the unused ones of packed types too.
    return { type: 'ndarray', dtype, shape, value: new Uint8Array(dtype.byteLength(shape)!) }
  })
const bitsets = fc.integer({ min: 0, max: 40 }).map(
  (bits): MetaValue => ({
    type: 'bitset',
    bits,
    value: new Uint8Array(Math.ceil(bits / 8)).fill(bits % 8 === 0 ? 255 : 1),
  }),
)
const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('relu', '', 'a b', '{"a":1}', 'x\n')).map(text)
const json = fc.jsonValue().map((value) => ({ type: 'json', value: JSON.parse(JSON.stringify(value)) }) as MetaValue)
const leaves = fc.oneof(
  scalars,
  bitsets,
  texts,
  json,
  fc.constant<MetaValue>({ type: 'null' }),
  fc.uint8Array().map((value): MetaValue => ({ type: 'bytes', value })),
)
const lists = fc.oneof(
  fc.array(leaves, { maxLength: 4 }).map((items) => listOf('mixed', items)),
  fc.array(fc.string({ unit: 'grapheme' }).map(text), { maxLength: 4 }).map((items) => listOf('str', items)),
  fc
    .array(
      fc.float().map((value): MetaValue => ({ type: 'f32', value })),
      { maxLength: 4 },
    )
    .map((items) => listOf('f32', items)),
  fc
    .array(
      fc.array(scalars).map((items) => listOf('mixed', items)),
      { maxLength: 3 },
    )
    .map((items) => listOf('array', items)),
)
const values = fc.oneof(scalars, arrays, bitsets, texts, json, leaves, lists)
const keys = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('a', 'tare.oinf.text.a', '__proto__', 'a/b', ''),
)

/** In a form that can be compared. A NaN in a list of numbers gets the bits that it is stored with, so they do not count there. */
function plain(value: MetaValue, inList = false): unknown {
  if (value.type === 'array') return { ...value, values: value.values().map((item) => plain(item, true)) }
  if (value.type === 'ndarray') return { ...value, dtype: value.dtype.id }
  return inList && 'value' in value && Number.isNaN(value.value) ? { type: value.type, value: 'NaN' } : value
}

const describeMetadata = (metadata: ReadonlyMap<string, MetaValue>): Map<string, unknown> =>
  new Map([...metadata].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, value]) => [key, plain(value)]))

describe('round trips', () => {
  it('keep metadata of every type under any key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(keys, values), { maxLength: 6 }), async (entries) => {
        const metadata = new Map(entries.filter(([key]) => key.isWellFormed()))
        const model = sampleModel([], metadata)
        const again = await rewrite(model)
        expect(describeMetadata(again.metadata)).toEqual(describeMetadata(metadata))
        const file = await convertToFiles(again, 'oinf')
        const { findings } = await verifySource(sourceOf(file))
        const isExpected = ({ code, severity }: Finding): boolean =>
          !code.startsWith('oinf/') || severity === 'note' || code === 'oinf/tensor-t2'
        expect(findings.filter((finding) => !isExpected(finding))).toEqual([])
        expect(file).toEqual(await convertToFiles(model, 'oinf'))
      }),
      { numRuns: 200 },
    )
  })

  it('keep tensors of every type, with and without data', async () => {
    const shapes = [[], [1], [0], [5], [2, 3], [0, 4], [3, 1, 5]]
    const tensors = elementIds.flatMap((id) =>
      shapes.map((shape) => sampleTensor(`${id}/${shape.join('x')}`, id, shape)),
    )
    const declared = tensors.map((tensor): Tensor => ({ ...tensor, name: `${tensor.name} declared`, data: null }))
    const model = sampleModel([...tensors, ...declared])
    for (const version of [1, 2]) {
      const again = await rewrite(model, { 'oinf-version': version })
      expect(again.version).toBe(String(version))
      expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
    }
  })

  const quants: readonly QuantParams[] = [
    { scheme: 'symmetric', axis: undefined, scales: [0.5] },
    { scheme: 'asymmetric', axis: undefined, scales: [0.25], zeroPoints: [-7] },
    { scheme: 'asymmetric', axis: undefined, scales: [1] },
    { scheme: 'symmetric', axis: 0, scales: [1, 2, 3] },
    { scheme: 'asymmetric', axis: 1, scales: [1, 2], zeroPoints: [2 ** 31 - 1, -(2 ** 31)] },
  ]

  it('keep quantization, in version 1 as metadata', async () => {
    const tensors = quants.map((quant, i): Tensor => ({ ...sampleTensor(`w/${i}`, 'i4', [3, 2], i), quant }))
    const model = sampleModel([...tensors, { ...tensors.at(0)!, name: 'declared', data: null }])
    const v2 = await rewrite(model)
    expect(v2.version).toBe('2')
    const v1 = await rewrite(v2, { 'oinf-version': 1 })
    expect(v1.version).toBe('1')
    expect(v1.metadata.size).toBe(0)
    for (const again of [v2, v1, await rewrite(v1)]) {
      expect(again.tensors.filter(({ data }) => data).map(({ quant }) => quant)).toEqual(quants)
      expect((await hashModel(again)).fingerprint).toBe((await hashModel(model)).fingerprint)
    }
    expect(await convertToFiles(await rewrite(v1), 'oinf')).toEqual(await convertToFiles(v2, 'oinf'))
  })

  it('name scales that 32 bits cannot hold', async () => {
    const quant = { scheme: 'symmetric' as const, scales: [0.1] }
    const model = sampleModel([{ ...sampleTensor('q', 'i8', [2]), quant }])
    const { plan } = await planConversion(model, 'oinf', { name: 'x.oinf' })
    expect([plan.loss, plan.actions.at(0)?.reason]).toEqual(['precision', 'its scales are rounded to 32 bits'])
    const again = await openModel(sourceOf(await convertToFiles(model, 'oinf', { name: 'x.oinf' })))
    expect(again.tensors.at(0)!.quant!.scales).toEqual([Math.fround(0.1)])
  })

  it('keep size variables, up to 2^64-1', async () => {
    const content = new Map([
      ['B', 4n],
      ['hidden size', 2n ** 64n - 1n],
    ])
    const part: Part = { kind: 'size-variables', sharing: 'shared', value: { B: 4 }, content }
    const again = await rewrite({ ...sampleModel([]), parts: [part] })
    expect(again.parts[0]!.content).toEqual(content)
    expect(again.parts[0]!.value).toEqual({ B: 4, 'hidden size': '18446744073709551615' })
    const fromValue = { ...sampleModel([]), parts: [{ ...again.parts[0]!, content: undefined }] }
    expect((await rewrite(fromValue)).parts[0]!.content).toEqual(content)
  })

  it('keep names that are no UTF-8', async () => {
    const rawName = [Uint8Array.of(0x61, 0xff)]
    const again = await rewrite(sampleModel([{ ...sampleTensor('a\ufffd', 'u8', [2]), rawName }]))
    expect(again.tensors.at(0)).toMatchObject({ name: 'a\ufffd', rawName })
  })
})

describe('versions', () => {
  it('are 1 by default, 2 for quantized tensors and for what was 2 before', async () => {
    const model = sampleModel([sampleTensor('w', 'f32', [2])])
    expect((await rewrite(model)).version).toBe('1')
    const v2 = await rewrite(model, { 'oinf-version': 2 })
    expect(v2.version).toBe('2')
    expect((await rewrite(v2)).version).toBe('2')
    expect((await rewrite(v2, { 'oinf-version': 1 })).version).toBe('1')
    expect((await rewrite({ ...model, format: 'other', version: '2' })).version).toBe('1')
    await expect(rewrite(model, { 'oinf-version': 3 })).rejects.toThrow('1 or 2')
  })
})

describe('alignment', () => {
  it('of tensor data can be wider', async () => {
    const tensors = ['a', 'b', 'c'].map((name) => sampleTensor(name, 'u8', [5]))
    const [file] = (await convertToFiles(sampleModel(tensors), 'oinf', { align: 64 })).values()
    const again = await openModel(sourceOf(new Map([['out', file!]])))
    for (const { data } of again.tensors) expect(data!.origin!.offset % 64).toBe(0)
    expect((await verifySource(sourceOf(new Map([['out', file!]])))).verdict).toBe('ok')
    for (const align of [4, 24])
      await expect(planConversion(sampleModel(tensors), 'oinf', { name: 'out', align })).rejects.toThrow('power of two')
  })
})

describe('what has no place', () => {
  const planFor = async (model: Model) => (await planConversion(model, 'oinf', { name: 'out', stow: false })).plan

  it('is named with the reason', async () => {
    const complex = sampleTensor('z', 'c64', [2])
    const part: Part = { kind: 'vocabulary', sharing: 'shared', value: {} }
    const quant: QuantParams = { scheme: 'symmetric', scales: [1, 2] }
    const tensors = [complex, { ...sampleTensor('q', 'i8', [2]), quant }]
    const plan = await planFor({ ...sampleModel(tensors), parts: [part] })
    expect(plan.actions.map(({ name, action, reason }) => [name, action, reason])).toEqual([
      ['z', 'drop', 'OINF has no type for c64'],
      ['q', 'drop', 'OINF cannot state this quantization: it has 2 scales where 1 belong'],
      ['vocabulary', 'drop', 'OINF cannot store it'],
    ])
  })

  it('is no loss for names and texts, which come back by themselves', async () => {
    const plan = await planFor(sampleModel([sampleTensor('a/b', 'f32', [1])], new Map([['note', text('two words')]])))
    expect(plan.loss).toBe('none')
    expect(plan.actions.map(({ reason }) => reason)).toEqual([
      'the name is stored as a-_2f_-b',
      'it is stored as an array under tare.oinf.text.note',
    ])
  })

  it('is refused when it reaches the writer', async () => {
    const wide = sampleModel([], new Map<string, MetaValue>([['k', { type: 'u8', value: 256 }]]))
    const conversion = await planFor(wide)
    expect(conversion.actions.at(0)).toMatchObject({ action: 'drop', reason: 'the value does not fit the type u8' })
    for (const value of [
      { type: 'i4', value: 8 },
      { type: 't1', value: 0 },
      { type: 'i64', value: 2n ** 63n },
      { type: 'u64', value: 0.5 },
    ])
      expect((await planFor(sampleModel([], new Map([['k', value as MetaValue]])))).loss).toBe('content')
  })
})

describe('tensor data', () => {
  it('are copied, not decoded: payload bytes stay', async () => {
    const data = Uint8Array.of(0x7f, 0xc0, 0x12, 0x34)
    const tensor: Tensor = { ...sampleTensor('nan', 'f32', [1]), data: bytesPayload(data) }
    expect(await readPayload((await rewrite(sampleModel([tensor]))).tensors.at(0)!.data!)).toEqual(data)
  })
})
