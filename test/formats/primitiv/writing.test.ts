import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type BytesSlot,
  bytesPayload,
  dtypeById,
  formatById,
  hashModel,
  type Model,
  type OptionValues,
  openModel,
  planConversion,
  readPayload,
  TareError,
  type Tensor,
} from '../../../src/kit.js'
import { attachState, dropState } from '../../../src/transforms/optimizer-state.js'
import { convertToFiles, sourceOf as sourceOfFiles } from '../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import {
  f32,
  floats,
  hex,
  join,
  key,
  modelFile,
  open,
  optimizerFile,
  parameter,
  parameterFile,
  tensor,
  toHex,
  u32,
} from './build.js'

const primitiv = formatById('primitiv')!

async function write(model: Model, extra: OptionValues = {}): Promise<Uint8Array> {
  return [...(await convertToFiles(model, 'primitiv', { extra })).values()][0]!
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
  } catch (error) {
    expect(error).toBeInstanceOf(TareError)
    return (error as TareError).message
  }
  throw new Error('it was not refused')
}

const named = (name: string, shape: readonly number[] = [1]): Tensor => ({
  ...sampleTensor(name, 'f32', shape),
  order: 'column',
})

interface ManifestFile {
  readonly file: string
  readonly made_by: string
}

describe('the bytes', () => {
  const { files } = JSON.parse(Buffer.from(fixtureBytes('primitiv', 'manifest.json')).toString()) as {
    files: ManifestFile[]
  }
  const ofReference = files
    .filter(({ made_by }) => made_by.startsWith('saved by the reference'))
    .map(({ file }) => file)

  it('there are files of the reference', () => expect(ofReference.length).toBeGreaterThan(20))

  it.each(ofReference)('%s is written as the reference wrote it', async (file) => {
    const model = await openModel(fixtureSource('primitiv', file))
    expect(Buffer.compare(await write(model), fixtureBytes('primitiv', file))).toBe(0)
  })

  it('of a scalar parameter and of a model with one matrix', async () => {
    const scalar = parameterFile('90', u32(1), 'c404 0000403f', u32(0))
    expect(toHex(await write((await open(scalar)).model))).toBe(toHex(scalar))
    const matrix: Tensor = {
      ...named('p', [2, 2]),
      order: 'row',
      data: bytesPayload(floats(1, 3, 2, 4)),
    }
    expect(toHex(await write(sampleModel([matrix])))).toBe(
      toHex(modelFile([key('p'), join('92', u32(2), u32(2), u32(1), 'c410', floats(1, 2, 3, 4), u32(0))])),
    )
  })

  it('shortest lengths, whatever was read', async () => {
    const long = join(
      u32(0),
      u32(1),
      u32(0x300),
      u32(1),
      'dd00000001 d90161',
      'dc0001',
      u32(1),
      u32(1),
      'c60000000400000000',
      u32(0),
    )
    expect(toHex(await write((await open(long)).model))).toBe(
      toHex(modelFile([key('a'), join('91', u32(1), u32(1), 'c40400000000', u32(0))])),
    )
  })

  it('shapes and tensors alone', async () => {
    for (const file of [
      'shape_8d.shape',
      'shape_scalar.shape',
      'tensor_special_floats.tensor',
      'tensor_vec64_bin16.tensor',
    ]) {
      const model = await openModel(fixtureSource('primitiv', file))
      expect(Buffer.compare(await write(model), fixtureBytes('primitiv', file)), file).toBe(0)
    }
  })
})

describe('keys', () => {
  const pathsOf = async (bytes: Uint8Array): Promise<unknown> =>
    (await open(bytes)).model.tensors.map(({ path }) => path)

  it('are sorted by bytes, name by name', async () => {
    const names = ['layer2', 'layer10', '\u{1f600}', '\uff5e', 'x.y', 'Z', 'a']
    const model = sampleModel(names.map((name) => named(name)))
    expect(await pathsOf(await write(model, { 'split-names': 'never' }))).toEqual(
      ['Z', 'a', 'layer10', 'layer2', 'x.y', '\uff5e', '\u{1f600}'].map((name) => [name]),
    )
    const nested = modelFile(
      [key('x.y'), parameter([1])],
      [key('x', 'y'), parameter([1])],
      [key('x', ''), parameter([1])],
    )
    expect(await pathsOf(await write((await open(nested)).model))).toEqual([['x', ''], ['x', 'y'], ['x.y']])
  })

  it('are split at dots only when nothing clashes', async () => {
    const fine = sampleModel([named('a.b'), named('a.c.d'), named('e')])
    expect(await pathsOf(await write(fine))).toEqual([['a', 'b'], ['a', 'c', 'd'], ['e']])
    expect(await pathsOf(await write(fine, { 'split-names': 'never' }))).toEqual([['a.b'], ['a.c.d'], ['e']])
    const clash = sampleModel([named('a'), named('a.b'), named('c.d')])
    expect(await pathsOf(await write(clash))).toEqual([['a'], ['a.b'], ['c.d']])
    expect(await refusal(write(clash, { 'split-names': 'always' }))).toContain('["a"] is a parameter')
  })

  it('that are not UTF-8 come back as they were', async () => {
    const bytes = modelFile(
      [
        key('sub', hex('61ff')),
        parameter(
          [2],
          [
            [hex('fe'), tensor([2])],
            ['m', tensor([1])],
          ],
        ),
      ],
      [key(hex('ff')), parameter([1], [['m', tensor([1])]])],
    )
    expect(toHex(await write((await open(bytes)).model))).toBe(toHex(bytes))
  })

  it('without a name cannot stand in a model', async () => {
    const { model } = await open(parameterFile(parameter([1])))
    expect(await refusal(write(model, { 'file-type': 'model' }))).toContain('needs a name')
    const renamed = await convertToFiles(model, 'primitiv', { rename: ['s/^/w/'] })
    expect(await pathsOf([...renamed.values()][0]!)).toEqual([['w']])
  })

  it('that occur twice are written again, in an order that keeps their meaning', async () => {
    for (const file of ['odd_duplicate_model_key.model', 'odd_duplicate_stat_key.param']) {
      const model = await openModel(fixtureSource('primitiv', file))
      expect(Buffer.compare(await write(model), fixtureBytes('primitiv', file)), file).toBe(0)
    }
  })
})

describe('statistics', () => {
  it('keep their order when read, and are sorted when new', async () => {
    const bytes = modelFile([
      key('w'),
      parameter(
        [2],
        [
          ['z', tensor([2])],
          ['a', tensor([1])],
        ],
      ),
    ])
    expect(toHex(await write((await open(bytes)).model))).toBe(toHex(bytes))
    const state = (stat: string): Tensor => ({ ...named(`w#${stat}`), role: 'state', stat })
    const fresh = sampleModel([state('z'), named('w'), state('b'), state('a')])
    const { model } = await open(await write(fresh))
    expect(model.tensors.map(({ name }) => name)).toEqual(['w', 'w#a', 'w#b', 'w#z'])
  })

  it('with eight dimensions and a batch come back from another container', async () => {
    const deep = tensor([2, 1, 1, 1, 1, 1, 1, 2], 3)
    const bytes = modelFile([key('w'), parameter([2], [['S', deep]])])
    const { model } = await open(bytes)
    for (const stow of [true, false]) {
      const files = await convertToFiles(model, 'safetensors', { name: 'm.safetensors', stow })
      const carried = await openModel(sourceOfFiles(files))
      // Where nothing remembers that there was a batch, a ninth dimension can be nothing else.
      const [back] = (
        await convertToFiles(carried, 'primitiv', { name: 'm.model', ...(!stow && { stateFrom: carried }) })
      ).values()
      expect(toHex(back!)).toBe(toHex(bytes))
    }
  })

  it('follow their parameter when it is renamed', async () => {
    const bytes = modelFile([key('old', 'w'), parameter([2], [['Adam.m1', tensor([2])]])])
    const files = await convertToFiles((await open(bytes)).model, 'primitiv', { rename: ['s/^old/new/'] })
    const { model } = await open([...files.values()][0]!)
    expect([...model.tensors]).toMatchObject([{ path: ['new', 'w'] }, { path: ['new', 'w'], stat: 'Adam.m1' }])
  })

  it('need their parameter', async () => {
    const { model } = await open(modelFile([key('w'), parameter([2], [['m', tensor([2])]])]))
    expect(await refusal(convertToFiles(model, 'primitiv', { exclude: ['w'] }))).toContain('its parameter is not among')
  })
})

describe('shapes', () => {
  it('keep ones at the end, unless asked to drop them', async () => {
    const bytes = fixtureBytes('primitiv', 'odd_trailing_one_dims.param')
    const { model } = await open(bytes)
    expect(toHex(await write(model))).toBe(toHex(bytes))
    const shapes = (await open(await write(model, { canonical: true }))).model.tensors.map(({ shape }) => shape)
    expect(shapes).toEqual([[3]])
  })

  it('of more than eight dimensions fit when ones at the end make the difference', async () => {
    const long = sampleModel([named('w', [2, 1, 1, 1, 1, 1, 1, 1, 1, 1])])
    const { plan } = await planConversion(long, 'primitiv', { name: 'out' })
    expect([...plan.actions]).toMatchObject([
      { name: 'w', loss: 'form', reason: expect.stringContaining('at the end') },
    ])
    expect((await open(await write(long))).model.tensors.at(0)!.shape).toEqual([2])
  })

  it('with a batch become plain shapes', async () => {
    const { model } = await open(parameterFile(parameter([3], [['h', tensor([3], 2)]])))
    const { plan } = await planConversion(model, 'primitiv', { name: 'out' })
    expect(plan.actions.find(({ name }) => name === '#h')).toMatchObject({ loss: 'form' })
    expect(toHex(await write(model))).toBe(toHex(parameterFile(parameter([3], [['h', tensor([3, 2])]]))))
  })

  it('keep the batch when the layout is told to', async () => {
    const bytes = parameterFile(parameter([3], [['h', tensor([3], 2)]]))
    const { model } = await open(bytes)
    const { files } = await (await primitiv.load()).layout!(model, { name: 'out', extra: { 'keep-batch': true } })
    const parts = await Promise.all(
      [...files[0]!.slots].map((slot) =>
        slot.kind === 'payload' ? readPayload(slot.payload) : (slot as BytesSlot).bytes,
      ),
    )
    expect(toHex(join(...parts))).toBe(toHex(bytes))
    const { tensor: judge } = primitiv.capabilities.writeFor!(model, { 'keep-batch': true })
    expect(judge(model.tensors.at(1)!)).toEqual({ fits: true })
  })
})

describe('what has no place', () => {
  const { write: can } = primitiv.capabilities
  const judge = (change: Partial<Tensor>) => can!.tensor({ ...named('w', [2]), ...change })

  it('is refused with a reason', () => {
    expect(judge({})).toEqual({ fits: true })
    expect(judge({ dtype: dtypeById('f16')! })).toMatchObject({
      fits: false,
      reason: expect.stringContaining('f16'),
    })
    expect(judge({ shape: [2, 0] })).toMatchObject({ fits: false, reason: expect.stringContaining('empty') })
    expect(judge({ shape: [2, 2, 2, 2, 2, 2, 2, 2, 2] })).toMatchObject({
      fits: false,
      reason: expect.stringContaining('8 dimensions'),
    })
    expect(judge({ shape: [2 ** 15, 2 ** 15] })).toMatchObject({
      fits: false,
      reason: expect.stringContaining('1073741823'),
    })
    expect(judge({ shape: [2 ** 30 - 1] })).toEqual({ fits: true })
    expect(judge({ shape: [2 ** 40, 2 ** 40] })).toMatchObject({ fits: false })
    const quant = { scheme: 'symmetric' as const, scales: [1] }
    expect(judge({ quant })).toMatchObject({ fits: false, reason: expect.stringContaining('dequantize') })
    expect(judge({ data: null })).toMatchObject({ fits: false, reason: expect.stringContaining('without data') })
    expect(judge({ name: '\ud800' })).toMatchObject({ fits: false, reason: expect.stringContaining('surrogate') })
    expect(judge({ role: 'state' })).toMatchObject({ fits: false, reason: expect.stringContaining('#') })
    expect(can!.metadata('k', { type: 'u32', value: 1 })).toMatchObject({ fits: false })
    expect(can!.part({ kind: 'vocabulary', sharing: 'shared', value: null })).toMatchObject({ fits: false })
  })

  it('one tensor per file, where the type says so', async () => {
    const two = sampleModel([named('a'), named('b')])
    expect(await refusal(write(two, { 'file-type': 'parameter' }))).toContain('holds one tensor, not 2')
    const one = sampleModel([named('a', [2])])
    expect((await open(await write(one, { 'file-type': 'parameter' }))).model).toMatchObject({ variant: 'parameter' })
    expect((await open(await write(one, { 'file-type': 'tensor' }))).model).toMatchObject({ variant: 'tensor' })
    expect(await refusal(write(one, { 'file-type': 'optimizer' }))).toContain('no settings')
  })
})

describe('a model with the settings of an optimizer', () => {
  it('becomes two files', async () => {
    const { model: settings } = await open(optimizerFile([['Optimizer.epoch', u32(2)]], [['SGD.eta', f32(0.5)]]))
    const model: Model = { ...sampleModel([named('w')]), parts: settings.parts }
    const files = await convertToFiles(model, 'primitiv', { name: 'out.model' })
    expect([...files.keys()]).toEqual(['out.model', 'out.optimizer'])
    expect((await open(files.get('out.optimizer')!)).model.parts).toEqual(settings.parts)
    expect((await open(files.get('out.model')!)).model.tensors.length).toBe(1)
  })
})

describe('round trips', () => {
  const name = fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('a', 'b', 'c', 'é', '\u{1f600}'))
  const dims = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 })
  const entry = fc.record({
    path: fc.array(name, { minLength: 1, maxLength: 3 }),
    dims,
    stats: fc.uniqueArray(fc.tuple(name, dims), { selector: ([stat]) => stat, maxLength: 3 }),
  })

  it('through our own writer and through row order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (entries) => {
        const kept = entries.filter(
          ({ path }, i) => !entries.some((other, k) => k !== i && clashes(path, other.path, k < i)),
        )
        const bytes = modelFile(
          ...kept.map(
            (each) =>
              [
                key(...each.path),
                parameter(
                  each.dims,
                  each.stats.map(([stat, shape]) => [stat, tensor(shape)]),
                ),
              ] as const,
          ),
        )
        const { model } = await open(bytes)
        const once = await write(model)
        const again = await open(once)
        expect(await describeTensors(again.model)).toEqual(await describeTensors(model))
        expect(toHex(await write(again.model))).toBe(toHex(once))
      }),
      { numRuns: 60 },
    )
  })

  it('to another format and back, with the statistics', async () => {
    const model = await openModel(fixtureSource('primitiv', 'model_nested_adam.model'))
    const flat = await openModel(sourceOfFiles(await convertToFiles(model, 'safetensors')))
    const { model: attached, unmatched } = attachState(flat, flat)
    expect(unmatched).toEqual([])
    const back = (await open(await write(attached))).model
    expect(await describeTensors(back)).toEqual(await describeTensors(model))
    const weights = fixtureBytes('primitiv', 'model_nested_adam_saved_without_stats.model')
    expect(Buffer.compare(await write(dropState(attached)), weights)).toBe(0)
    expect(Buffer.compare(await write(dropState(model)), weights)).toBe(0)
  })

  it('to another format and back, element by element', async () => {
    const model = await openModel(fixtureSource('primitiv', 'model_nested.model'))
    const there = await convertToFiles(model, 'safetensors')
    const row = await openModel(sourceOfFiles(there))
    expect(row.tensors.every(({ order }) => order === 'row')).toBe(true)
    expect((await hashModel(row)).fingerprint).toBe((await hashModel(model)).fingerprint)
    expect(Buffer.compare(await write(row), fixtureBytes('primitiv', 'model_nested.model'))).toBe(0)
  })
})

/** Whether two keys cannot be in one model; equal ones are kept once. */
function clashes(a: readonly string[], b: readonly string[], isLater: boolean): boolean {
  const isPrefix = (x: readonly string[], y: readonly string[]): boolean =>
    x.length <= y.length && x.every((each, i) => each === y[i])
  if (a.length === b.length) return isLater && isPrefix(a, b)
  return isPrefix(b, a)
}

async function describeTensors(model: Model): Promise<unknown[]> {
  const { tensors } = await hashModel(model, { algorithm: 'crc32' })
  return tensors.map(({ path, stat, shape, digest }) => JSON.stringify([path, stat, shape, digest])).sort()
}
