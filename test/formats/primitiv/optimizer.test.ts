import { describe, expect, it } from 'vitest'
import { optimizerFromJson, optimizerToJson } from '../../../src/formats/primitiv/optimizer-json.js'
import { type Model, openModel, strictReport, TareError } from '../../../src/index.js'
import { convertToFiles } from '../../support/convert.js'
import { fixtureBytes, fixtureSource, loadCases } from '../../support/fixtures.js'
import { f32, findingsOf, hex, open, optimizerFile, toHex, u32 } from './build.js'

const report = strictReport('settings.json')
const fromText = (text: string): Model => optimizerFromJson(new Uint8Array(Buffer.from(text)), report)
const write = async (model: Model, options = {}): Promise<Uint8Array> =>
  [...(await convertToFiles(model, 'primitiv', options)).values()][0]!

interface OptimizerCase {
  readonly file: string
  readonly verdict: string
  readonly optimizer?: { readonly uint: Record<string, number>; readonly float: Record<string, number> }
}

describe('settings', () => {
  // Two settings of one name: the list of cases has the last, the reference takes the first.
  const cases = (loadCases('primitiv') as OptimizerCase[]).filter(
    ({ file, optimizer }) => optimizer && !file.includes('duplicate'),
  )

  it.each(cases)('$file', async ({ file, optimizer }) => {
    const model = await openModel(fixtureSource('primitiv', file))
    expect(model).toMatchObject({ variant: 'optimizer', tensors: [] })
    expect(model.parts).toMatchObject([{ kind: 'optimizer', sharing: 'shared', value: optimizer }])
    for (const [key, value] of Object.entries(optimizer!.uint)) {
      expect(model.metadata.get(key)).toEqual({ type: 'u32', value })
    }
    for (const [key, value] of Object.entries(optimizer!.float)) {
      expect(model.metadata.get(key)).toEqual({ type: 'f32', value })
    }
  })

  it.each([
    ['opt_adam.optimizer', 'Adam'],
    ['opt_sgd_default.optimizer', 'SGD'],
    ['opt_momentumsgd.optimizer', 'MomentumSGD'],
    ['opt_adagrad.optimizer', 'AdaGrad'],
    ['opt_rmsprop.optimizer', 'RMSProp'],
    ['opt_adadelta.optimizer', 'AdaDelta'],
    ['odd_opt_unknown_and_missing_keys.optimizer', 'Foo'],
    ['odd_opt_prerelease_trainer_keys.optimizer', 'Adam'],
  ])('%s is for %s', async (file, name) => {
    const model = await openModel(fixtureSource('primitiv', file))
    expect(model.parts[0]!.value).toMatchObject({ class: name })
  })

  it('of two classes are of none', async () => {
    const { model } = await open(
      optimizerFile(
        [],
        [
          ['SGD.eta', f32(1)],
          ['Adam.eps', f32(1)],
        ],
      ),
    )
    expect(model.parts[0]!.value).toMatchObject({ class: null })
  })

  it('odd ones are reported', async () => {
    const codes = async (bytes: Uint8Array): Promise<string[]> => (await findingsOf(bytes)).map(({ code }) => code)
    expect(await codes(fixtureBytes('primitiv', 'odd_duplicate_config_key.optimizer'))).toEqual([
      'primitiv/duplicate-config',
      'primitiv/duplicate-config',
    ])
    expect(await codes(fixtureBytes('primitiv', 'odd_opt_epoch_in_float_map.optimizer'))).toEqual([
      'primitiv/config-map',
    ])
    expect(await codes(optimizerFile([['SGD.eta', u32(1)]], []))).toEqual(['primitiv/config-map'])
    expect(await codes(fixtureBytes('primitiv', 'odd_opt_prerelease_trainer_keys.optimizer'))).toEqual([
      'primitiv/config-prerelease',
    ])
    const { findings } = await open(optimizerFile([], [['SGD.eta', f32(1)]]))
    expect(findings).toMatchObject([{ code: 'primitiv/config-missing', severity: 'note' }])
    expect(findings[0]!.message).toContain('Optimizer.epoch')
  })

  it('the first of two counts', async () => {
    const { model } = await open(fixtureBytes('primitiv', 'odd_duplicate_config_key.optimizer'))
    expect(model.metadata.get('Optimizer.epoch')).toEqual({ type: 'u32', value: 3 })
  })

  it('keep the bits of a NaN, keys that are not UTF-8, and a key in both maps', async () => {
    const bytes = optimizerFile(
      [
        [hex('ff'), u32(1)],
        ['both', u32(7)],
      ],
      [
        ['nan', hex('ca7fa00001')],
        ['both', f32(0.5)],
        [hex('fe'), f32(2)],
        ['__proto__', f32(3)],
      ],
    )
    const { model } = await open(bytes)
    const written = await write(model)
    expect(toHex(written)).toBe(toHex(bytes))
    expect(Object.keys((model.parts[0]!.value as { float: object }).float)).toContain('__proto__')
  })

  it('can be set and unset', async () => {
    const model = await openModel(fixtureSource('primitiv', 'opt_sgd.optimizer'))
    const changed = await write(model, {
      set: [
        ['Optimizer.epoch', '99'],
        ['SGD.eta', '0.5'],
      ],
      unset: ['Optimizer.lr_scale'],
    })
    const { metadata } = (await open(changed)).model
    expect(metadata.get('Optimizer.epoch')).toEqual({ type: 'u32', value: 99 })
    expect(metadata.get('SGD.eta')).toEqual({ type: 'f32', value: 0.5 })
    expect(metadata.has('Optimizer.lr_scale')).toBe(false)
  })

  it('that do not fit are refused', async () => {
    const model = await openModel(fixtureSource('primitiv', 'opt_sgd.optimizer'))
    await expect(write(model, { set: [['Optimizer.epoch', '-1']] })).rejects.toThrow('not in 0..4294967295')
    await expect(write(model, { set: [['SGD.eta', '1e39']] })).rejects.toThrow('32 bits')
  })
})

describe('as JSON', () => {
  const files = loadCases('primitiv')
    .filter(({ file, verdict }) => /^opt_/.test(file) && verdict === 'accept')
    .map(({ file }) => file)

  it.each(files)('%s, there and back, gives the same bytes', async (file) => {
    const text = optimizerToJson(await openModel(fixtureSource('primitiv', file)))!
    expect(Buffer.compare(await write(fromText(text)), fixtureBytes('primitiv', file))).toBe(0)
  })

  it('reads well', async () => {
    const text = optimizerToJson(await openModel(fixtureSource('primitiv', 'opt_adam.optimizer')))!
    expect(JSON.parse(text)).toEqual({
      class: 'Adam',
      uint: { 'Optimizer.epoch': 4242 },
      float: {
        'Adam.beta2': 0.99,
        'Adam.beta1': 0.8,
        'Optimizer.clip_threshold': 3,
        'Adam.eps': 1e-9,
        'Adam.alpha': 0.0005,
        'Optimizer.l2_strength': 1e-6,
        'Optimizer.lr_scale': 0.3,
      },
    })
  })

  it('is complete where a class is named', async () => {
    expect(toHex(await write(fromText('{"class": "SGD"}')))).toBe(
      toHex(fixtureBytes('primitiv', 'opt_sgd_default.optimizer')),
    )
  })

  it('keeps every float', async () => {
    const bits = [
      '7fc00000',
      '7fa00001',
      'ffc00001',
      '7f800000',
      'ff800000',
      '80000000',
      '00000001',
      '7f7fffff',
      '3dcccccd',
    ]
    const bytes = optimizerFile(
      [],
      bits.map((each, i) => [`x.${i}`, hex(`ca${each}`)] as const),
    )
    const text = optimizerToJson((await open(bytes)).model)!
    expect(toHex(await write(fromText(text)))).toBe(toHex(bytes))
  })

  it('says what is wrong', () => {
    const wrong = (text: string): string => {
      try {
        fromText(text)
      } catch (error) {
        expect(error).toBeInstanceOf(TareError)
        return (error as TareError).message
      }
      throw new Error('it was taken')
    }
    expect(wrong('[]')).toContain('an object')
    expect(wrong('{"uint": {"a": 1.5}}')).toContain('uint.a')
    expect(wrong('{"uint": {"a": 4294967296}}')).toContain('0..4294967295')
    expect(wrong('{"float": {"a": 1e39}}')).toContain('32 bits')
    expect(wrong('{"float": {"a": "x"}}')).toContain('a number')
    expect(wrong('{"class": 1}')).toContain('a name')
    expect(wrong('{"klass": 1}')).toContain('only class, uint and float')
    expect(wrong('{"uint": {"a": 1, "a": 2}}')).toContain('twice')
  })

  it('is nothing for a model without settings', async () => {
    expect(optimizerToJson(await openModel(fixtureSource('primitiv', 'model_single.model')))).toBeUndefined()
  })
})
