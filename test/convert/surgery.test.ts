// Names, types and metadata that are changed on the way.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesPayload,
  type ConvertOptions,
  diffModels,
  dtypeById,
  formats,
  hashModel,
  type MetaValue,
  type Model,
  openModel,
  type Plan,
  planConversion,
  type Tensor,
} from '../../src/kit.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixtureSource } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

fc.configureGlobal({ seed: 31 })

const plan = async (model: Model, target: string, options: Partial<ConvertOptions>) =>
  (await planConversion(model, target, { name: 'out', ...options })).plan
const convert = async (model: Model, target: string, options: Partial<ConvertOptions>) =>
  openModel(sourceOf(await convertToFiles(model, target, options)), { from: target })
const about = ({ actions }: Pick<Plan, 'actions'>, name: string) => actions.filter((action) => action.name === name)

const finite = (name: string, shape: readonly number[]): Tensor => {
  const count = shape.reduce((a, b) => a * b, 1)
  const values = Float32Array.from({ length: count }, (_, i) => Math.sin(i * 12.9898) / 4)
  const data = bytesPayload(new Uint8Array(values.buffer))
  return { name, dtype: dtypeById('f32')!, shape, order: 'row', role: 'weight', data }
}

describe('a map of names', () => {
  const model = sampleModel(['a', 'b', 'c'].map((name, i) => sampleTensor(name, 'f32', [2], i + 1)))
  const named = async (options: Partial<ConvertOptions>): Promise<string[]> =>
    (await convert(model, 'safetensors', options)).tensors.map(({ name }) => name)
  const map = (entries: Readonly<Record<string, string>>) => new Map(Object.entries(entries))

  it('goes before the rules, which are for the others', async () => {
    const options = { renameMap: map({ a: 'b2' }), rename: ['s/^/x./'] }
    expect(await named(options)).toEqual(['b2', 'x.b', 'x.c'])
    expect(about(await plan(model, 'safetensors', options), 'a')[0]).toMatchObject({ from: 'a', to: 'b2' })
  })

  it('can let tensors change names, and goes with a selection by the old ones', async () => {
    expect(await named({ renameMap: map({ a: 'b', b: 'a' }) })).toEqual(['a', 'b', 'c'])
    expect(await named({ renameMap: map({ a: 'b', b: 'd' }), exclude: ['b'] })).toEqual(['b', 'c'])
    expect(await named({ renameMap: map({ a: 'b' }), only: ['a'] })).toEqual(['b'])
  })

  it('that is wrong is refused by name', async () => {
    await expect(named({ renameMap: map({ z: 'a' }) })).rejects.toMatchObject({
      code: 'usage/no-such-tensor',
      finding: { path: 'z' },
    })
    await expect(named({ renameMap: map({ a: 'b' }) })).rejects.toMatchObject({
      code: 'write/duplicate-name',
      finding: { path: 'b', message: expect.stringContaining('"a" and "b"') },
    })
  })

  it('that takes every tensor somewhere else loses none', async () => {
    const letters = ['a', 'b', 'c', 'd', 'e']
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(letters, { minLength: 5 }), async (to) => {
        const tensors = letters.map((name, i) => sampleTensor(name, 'f32', [2], i + 1))
        const renameMap = new Map(letters.map((name, i) => [name, to[i]!]))
        const there = await convert(sampleModel(tensors), 'safetensors', { renameMap })
        const renameBack = new Map([...renameMap].map(([from, name]) => [name, from]))
        const back = await convert(there, 'safetensors', { renameMap: renameBack })
        expect((await hashModel(back)).fingerprint).toBe((await hashModel(sampleModel(tensors))).fingerprint)
      }),
      { numRuns: 20 },
    )
  })
})

describe('dequantizing', () => {
  it('gives f32, or what floats are cast to, and says what it costs', async () => {
    const model = sampleModel([sampleTensor('q.a', 'ggml.q8_0', [2, 32]), sampleTensor('q.b', 'ggml.q4_k', [1, 256])])
    const all = await plan(model, 'gguf', { dequantize: ['*'] })
    expect(all.actions.map(({ action, from, to, loss }) => [action, from, to, loss])).toEqual([
      ['dequantize', 'ggml.q8_0', 'f32', 'form'],
      ['dequantize', 'ggml.q4_k', 'f32', 'form'],
    ])
    expect([all.loss, all.unrequestedLoss]).toEqual(['form', 'none'])
    const one = await convert(model, 'gguf', { dequantize: ['*.a'], cast: 'bf16' })
    expect(one.tensors.map(({ dtype }) => dtype.id)).toEqual(['bf16', 'ggml.q4_k'])
    // Nothing is quantized any more, so the format's own note of that is not added.
    const plain = await convert(model, 'gguf', { dequantize: ['*'] })
    expect([...plain.metadata.keys()]).toEqual([])
  })

  it.each([
    ['mcf', 'quant-k4.mcf'],
    ['mcf', 'doc-int8-weights.mcf'],
  ])('%s %s has the same values afterwards, in its own format and in others', async (id, file) => {
    const model = await openModel(fixtureSource(id, file))
    for (const target of [id, 'safetensors']) {
      const back = await convert(model, target, { dequantize: ['*'] })
      expect(back.tensors.filter(({ dtype, encoding }) => (encoding ?? dtype).kind === 'block')).toEqual([])
      expect((await diffModels(model, back, { tolerance: 0 })).tensors.filter(({ close }) => !close)).toEqual([])
    }
  })

  it('looks into blocks that another container keeps packed', async () => {
    const blocks = sampleModel([
      { ...sampleTensor('q', 'ggml.q8_0', [2, 64]), data: bytesPayload(new Uint8Array(136).fill(9)) },
    ])
    const packed = await convert(blocks, 'aero', { deterministic: true })
    expect(packed.tensors.at(0)).toMatchObject({ dtype: { id: 'packed' }, encoding: { id: 'ggml.q8_0' } })
    const back = await convert(packed, 'aero', { dequantize: ['*'], deterministic: true })
    expect(back.tensors.at(0)).toMatchObject({ dtype: { id: 'f32' }, shape: [2, 64] })
    expect((await diffModels(blocks, back, { tolerance: 0 })).tensors.filter(({ close }) => !close)).toEqual([])
  })

  it('takes scales beside a tensor into account, which then are gone', async () => {
    const quant = { scheme: 'asymmetric', axis: 0, scales: [0.5, 0.25], zeroPoints: [3, -1] } as const
    const model = sampleModel([{ ...sampleTensor('q', 'i8', [2, 4]), quant }])
    const stored = await convert(model, 'oinf', {})
    const actions = (await plan(stored, 'safetensors', { dequantize: ['*'] })).actions
    expect([...actions]).toEqual([
      expect.objectContaining({ action: 'dequantize', from: 'i8', to: 'f32', loss: 'form' }),
    ])
    const back = await convert(stored, 'safetensors', { dequantize: ['*'] })
    expect(back.tensors.at(0)!.quant).toBeUndefined()
    expect((await diffModels(model, back, { tolerance: 0 })).tensors.filter(({ close }) => !close)).toEqual([])
  })

  it('leaves what nobody can decode as it is, and says so', async () => {
    const packed = { ...sampleTensor('p', 'mcf.q8', [2, 32]), data: bytesPayload(new Uint8Array(64)) }
    const { actions } = await plan(sampleModel([packed]), 'mcf', { dequantize: ['*'] })
    expect(actions.at(0)).toMatchObject({ action: 'copy', reason: expect.stringContaining('stays as it is') })
  })
})

describe('quantizing', () => {
  const model = sampleModel([finite('a.weight', [32, 256]), finite('norm.weight', [256])])
  const settings = { method: 'q8' } as const

  it('happens on the way, together with everything else', async () => {
    const options = { quantize: settings, cast: 'f16', rename: ['s/a/b/'] }
    const { actions } = await plan(model, 'mcf', options)
    expect(about({ actions }, 'a.weight').map(({ action, to }) => [action, to])).toEqual([
      ['rename', 'b.weight'],
      ['quantize', 'mcf.q8'],
    ])
    const made = await convert(model, 'mcf', options)
    expect(made.tensors.map(({ name, dtype }) => [name, dtype.id])).toEqual([
      ['b.weight', 'mcf.q8'],
      ['norm.weight', 'f16'],
    ])
  })

  it('goes from codes to other codes only when they may be decoded', async () => {
    const stored = await convert(model, 'mcf', { quantize: settings })
    const kept = await plan(stored, 'mcf', { quantize: { method: 'k4' } })
    expect(about(kept, 'a.weight')[0]!.action).toBe('copy')
    const again = await plan(stored, 'mcf', { quantize: { method: 'k4' }, dequantize: ['*'], cast: 'f16' })
    expect(about(again, 'a.weight')).toEqual([
      expect.objectContaining({ action: 'quantize', from: 'mcf.q8', to: 'mcf.k4', loss: 'precision' }),
    ])
  })

  it('is refused where the target would only decode the codes again', async () => {
    await expect(plan(model, 'safetensors', { quantize: settings })).rejects.toMatchObject({
      code: 'write/dtype-unsupported',
      finding: { path: 'a.weight' },
    })
  })
})

describe('setting metadata', () => {
  const entries = new Map<string, MetaValue>([
    ['count', { type: 'u32', value: 1 }],
    ['flag', { type: 'bool', value: false }],
    ['name', { type: 'str', value: 'old' }],
  ])
  const model = sampleModel([sampleTensor('w', 'f32', [2])], entries)

  it('keeps the type and the place that an entry has', async () => {
    const { metadata } = await convert(model, 'gguf', {
      set: [
        ['flag', 'true'],
        ['count', '7'],
        ['new', '8'],
      ],
    })
    expect([...metadata].slice(0, 4)).toEqual([
      ['count', { type: 'u32', value: 7 }],
      ['flag', { type: 'bool', value: true }],
      ['name', { type: 'str', value: 'old' }],
      ['new', { type: 'str', value: '8' }],
    ])
  })

  it('refuses what is not a value of the type, unless the entry is unset as well', async () => {
    await expect(convert(model, 'gguf', { set: [['count', 'many']] })).rejects.toMatchObject({
      code: 'usage/option',
      finding: { path: 'count' },
    })
    const { metadata } = await convert(model, 'gguf', { set: [['count', 'many']], unset: ['count'] })
    expect(metadata.get('count')).toEqual({ type: 'str', value: 'many' })
  })

  it('is text where the target knows only text, and has its type again on the way home', async () => {
    const gguf = await convert(model, 'gguf', {})
    const carried = await convert(gguf, 'safetensors', { set: [['count', '7']] })
    expect(carried.metadata.get('count')).toEqual({ type: 'str', value: '7' })
    expect((await convert(carried, 'gguf', {})).metadata.get('count')).toEqual({ type: 'u32', value: 7 })
    const bare = await convert(gguf, 'safetensors', { set: [['count', '7']], stow: false })
    expect([...bare.metadata]).toEqual([
      ['count', { type: 'str', value: '7' }],
      ['name', { type: 'str', value: 'old' }],
    ])
  })
})

describe('equal tensors', () => {
  const twins = ['a', 'b', 'c'].map((name) => sampleTensor(name, 'f32', [64, 64], name === 'c' ? 2 : 1))
  const model = sampleModel(twins)

  it.each(formats.filter(({ capabilities }) => capabilities.write).map((format) => [format.id, format] as const))(
    'are stored once in %s where it can, else a note says that it cannot',
    async (id, { capabilities }) => {
      const tensors = twins.slice(0, capabilities.write?.maxTensors ?? 3)
      const [apart, once] = [
        await plan({ ...model, tensors }, id, {}),
        await plan({ ...model, tensors }, id, { dedup: true }),
      ]
      if (capabilities.write?.sharesPayloads) {
        // Numbers in the index may take a byte more or less, and a member of an archive has headers of its own.
        const saved = apart.size - once.size - 64 * 64 * 4
        expect(saved).toBeGreaterThan(-64)
        expect(saved).toBeLessThan(256)
        expect(about(once, 'b').at(-1)).toMatchObject({ action: 'copy', to: 'a' })
        const back = await convert(model, id, { dedup: true })
        expect((await hashModel(back)).fingerprint).toBe((await hashModel(model)).fingerprint)
      } else {
        expect(once.size).toBe(apart.size)
        expect(once.notes).toContainEqual(expect.stringContaining('dedup changes nothing'))
      }
    },
  )

  it('are found after casting, and named as the source names them', async () => {
    const { actions, size } = await plan(model, 'mcf', { dedup: true, cast: 'f16', rename: ['s/$/.w/'] })
    expect(about({ actions }, 'b').map(({ action }) => action)).toEqual(['rename', 'cast', 'copy'])
    expect(size).toBeLessThan(2.5 * 64 * 64 * 2)
  })
})
