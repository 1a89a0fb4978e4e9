// Every output can be made in ranges by workers that know nothing of each other: each plans for itself, makes its quarter of every file, and a
// finisher with a plan of its own fills in checksums and hashes from the sums of the quarters. The result is the file that one run writes.
import { describe, expect, it } from 'vitest'
import {
  type ConvertOptions,
  formats,
  type Layout,
  lazyPayload,
  MemorySource,
  type Model,
  openModel,
  planConversion,
  readPayload,
  type Tensor,
} from '../../src/kit.js'
import { fileLength } from '../../src/model/layout.js'
import { finishFile } from '../../src/writing/ranges/finish-file.js'
import { type RangeSums, rangeOf } from '../../src/writing/ranges/range-of.js'
import { convertToFiles } from '../support/convert.js'
import { featureModels } from '../support/feature-models.js'
import { fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

type Options = Partial<ConvertOptions>

const writable = formats.filter((format) => format.capabilities.write)
const workers = 4

async function inRanges(plan: () => Promise<Layout>): Promise<Map<string, Uint8Array>> {
  const finisher = await plan()
  const files = new Map(finisher.files.map((file) => [file.name, new Uint8Array(fileLength(file))]))
  const sums: RangeSums[] = []
  for (let worker = 0; worker < workers; worker++) {
    const layout = await plan()
    for (const [name, bytes] of files) {
      const border = (i: number): number => Math.floor((bytes.byteLength * i) / workers)
      const range = rangeOf(layout, name, border(worker), border(worker + 1), { window: 50_000 })
      let at = border(worker)
      for await (const chunk of range.chunks()) {
        bytes.set(chunk, at)
        at += chunk.byteLength
      }
      expect(at).toBe(border(worker + 1))
      sums.push(structuredClone(range.sums()))
    }
  }
  for (const [name, bytes] of files)
    for (const [offset, late] of await finishFile(finisher, name, sums)) bytes.set(late, offset)
  return files
}

/** Whether the target took the model at all; what it refuses, it refuses in the same way for all. */
async function expectSame(open: () => Promise<Model>, target: string, options: Options): Promise<boolean> {
  const plan = async (): Promise<Layout> => {
    const conversion = await planConversion(await open(), target, { name: 'out', ...options })
    return conversion.layout
  }
  const once = await convertToFiles(await open(), target, options).catch((error: { code?: string }) => error)
  if (!(once instanceof Map)) {
    expect(once.code).toMatch(/\//)
    return false
  }
  const made = await inRanges(plan)
  expect([...made.keys()].sort()).toEqual([...once.keys()].sort())
  for (const [name, bytes] of once) expect(Buffer.compare(bytes, made.get(name)!), name).toBe(0)
  return true
}

const uuid = '00112233-4455-4677-8899-aabbccddeeff'

/** A few files of each format, from all over its list. */
const samples = formats.flatMap(({ id }) => {
  const cases = presentCases(id).filter(isAccepted)
  const step = Math.max(1, Math.floor(cases.length / 3))
  return cases.filter((_, i) => i % step === 0).map(({ file }) => ({ id, file }))
})

describe.each(writable.map(({ id }) => id))('ranges of %s', (target) => {
  it('join to the single run for fixtures of every format', async () => {
    let taken = 0
    for (const { id, file } of samples) {
      const open = (): Promise<Model> => openModel(fixtureSource(id, file), { from: id })
      for (const options of [{ deterministic: true }, { deterministic: true, rewrite: true, cast: 'f16' }])
        if (await expectSame(open, target, options)) taken++
    }
    expect(taken).toBeGreaterThan(0)
  }, 120_000)

  it('join to the single run for models with every feature', async () => {
    let taken = 0
    for (const model of Object.values(featureModels))
      if (await expectSame(async () => model, target, { deterministic: true, extra: { uuid } })) taken++
    expect(taken).toBeGreaterThan(0)
  })
})

/** Random bits are not all finite: the upper bytes make them small numbers. */
function smallNumbers(name: string, shape: readonly number[], seed: number): Tensor {
  const tensor = sampleTensor(name, 'bf16', shape, seed)
  const slot = tensor.data!
  return {
    ...tensor,
    data: lazyPayload(slot.byteLength, async function* () {
      const bytes = await readPayload(slot)
      yield bytes.map((byte, i) => (i % 2 === 1 ? 0x3c + (byte % 4) : byte))
    }),
  }
}

/** The bytes of the quarters end within tensors, within blocks and within elements. */
const inOrder = (order: 'row' | 'column', container: string) => async (): Promise<Model> => {
  const tensors = [
    smallNumbers('a.weight', [96, 512], 1),
    sampleTensor('norm.weight', 'i32', [33], 2),
    smallNumbers('b.weight', [130, 256], 3),
    sampleTensor('c', 'i8', [1000, 7], 4),
  ].map((tensor) => ({ ...tensor, order }))
  const files = await convertToFiles(sampleModel(tensors), container, { name: `in.${container}` })
  const model = await openModel(new MemorySource([...files.values()][0]!, `in.${container}`))
  expect(model.tensors[0]!.order).toBe(order)
  return model
}
const floats = inOrder('row', 'safetensors')
const columns = inOrder('column', 'npz')

const quantize = (target: string, methods: readonly string[]): (readonly [string, Options])[] =>
  methods.map((method) => [target, { quantize: { method, everyMatrix: true } }])

const hashed = { uuid, 'page-hashes': 4096, 'control-hash': true }

const recoded: readonly (readonly [string, Options])[] = [
  ['safetensors', { cast: 'f16' }],
  ['npz', { cast: 'f64' }],
  ['embd', { cast: 'f32' }],
  ['oinf', { cast: 'f16' }],
  ['primitiv', { cast: 'f32', only: ['*.weight'], exclude: ['norm*'] }],
  ['mcf', { cast: 'f16' }],
  ['gguf', { cast: 'f32' }],
  ...quantize('gguf', ['q8_0', 'q4_0', 'q4_k', 'q6_k', 'iq4_nl']),
  ...quantize('mcf', ['q8', 'q4', 'k6', 'k4', 'int8', 'int4']),
  ['mcf', { quantize: { method: 'int8', everyMatrix: true, clip: [-0.01, 0.01] } }],
  ['mcf', { quantize: { method: 'int4', everyMatrix: true, domain: 'activations' } }],
  ['mcf', { quantize: { method: 'k4', everyMatrix: true, mode: 'reference' } }],
  ...quantize('aero', ['q8_0', 'q5_k']).map(([target, each]) => [target, { ...each, extra: hashed }] as const),
  ['aero', { cast: 'f32', deterministic: true }],
  ['aero', { cast: 'f32', extra: hashed }],
  ['aero', { cast: 'f32', deterministic: true, extra: { 'page-hashes': 1000, 'control-hash': true } }],
  ['aero', { shardSize: 100_000, align: 64, extra: hashed }],
  ['aero', { extra: { uuid, 'tensor-hashes': 'off' } }],
  ['aeroset', { cast: 'f32', shardSize: 100_000, extra: { ...hashed, 'part-shards': 1 } }],
]

const reordered: readonly (readonly [string, Options])[] = [
  ['safetensors', {}],
  ['safetensors', { cast: 'f32' }],
  ['gguf', { cast: 'f16' }],
  ['torch', { cast: 'f32', keepOrientation: false }],
  ...quantize('gguf', ['q8_0', 'q4_k']),
  ...quantize('mcf', ['q4', 'k4', 'int8']),
  ['aero', { extra: hashed }],
]

describe('ranges of recoded outputs', () => {
  it.each(recoded)('of %s with %j join to the single run', async (target, options) => {
    expect(await expectSame(floats, target, options)).toBe(true)
  })

  it.each(reordered)(
    'of %s with %j join to the single run when elements change their order',
    async (target, options) => {
      expect(await expectSame(columns, target, options)).toBe(true)
    },
  )
})
