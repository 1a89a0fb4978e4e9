import { describe, expect, it } from 'vitest'
import { type Model, openModel } from '../../../../src/kit.js'
import { convertToFiles } from '../../../support/convert.js'
import { fixtureBytes, fixtureSource, loadCases } from '../../../support/fixtures.js'
import { f32, findingsOf, hex, open, optimizerFile, toHex, u32 } from '../build.js'

const write = async (model: Model, options = {}): Promise<Uint8Array> =>
  [...(await convertToFiles(model, 'primitiv', options)).values()][0]!

/** The two values that the file has for one float setting. */
function bothEtas(bytes: Uint8Array): [string, Uint8Array][] {
  const at = (offset: number): Uint8Array => bytes.subarray(offset, offset + 5)
  return [
    ['SGD.eta', at(bytes.byteLength - 18)],
    ['SGD.eta', at(bytes.byteLength - 5)],
  ]
}

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
    for (const name of ['lr_scale', 'l2_strength', 'clip_threshold']) {
      expect(await codes(optimizerFile([], [[`Optimizer.${name}`, f32(-0.5)]]))).toEqual(['primitiv/config-negative'])
      expect(await codes(optimizerFile([], [[`Optimizer.${name}`, f32(-0)]]))).toEqual([])
    }
    expect(await codes(fixtureBytes('primitiv', 'odd_opt_prerelease_trainer_keys.optimizer'))).toEqual([
      'primitiv/config-prerelease',
    ])
    const { findings } = await open(optimizerFile([], [['SGD.eta', f32(1)]]))
    expect(findings).toMatchObject([{ code: 'primitiv/config-missing', severity: 'note' }])
    expect(findings[0]!.message).toContain('Optimizer.epoch')
  })

  it('the first of two counts, and a copy has both', async () => {
    const bytes = fixtureBytes('primitiv', 'odd_duplicate_config_key.optimizer')
    const { model } = await open(bytes)
    expect(model.metadata.get('Optimizer.epoch')).toEqual({ type: 'u32', value: 3 })
    expect(toHex(await write(model))).toBe(toHex(bytes))
    const without = await write(model, { unset: ['Optimizer.epoch'] })
    expect(toHex(without)).toBe(toHex(optimizerFile([], [...bothEtas(bytes)])))
  })

  it.each(['odd_opt_unknown_and_missing_keys', 'odd_opt_epoch_in_float_map', 'odd_opt_prerelease_trainer_keys'])(
    '%s comes back byte for byte',
    async (name) => {
      const bytes = fixtureBytes('primitiv', `${name}.optimizer`)
      expect(toHex(await write((await open(bytes)).model))).toBe(toHex(bytes))
    },
  )

  it('are wanted where the name of the file says so', async () => {
    const { model } = await open(hex('ce00000000 ce00000001 ce00000300 ce00000000'))
    await expect(write(model, { name: 'x.optimizer' })).rejects.toThrow('no settings of an optimizer')
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
    await expect(write(model, { set: [['Optimizer.epoch', '-1']] })).rejects.toThrow('holds 0 to 4294967295')
    await expect(write(model, { set: [['SGD.eta', '1e39']] })).rejects.toThrow('too large for f32')
  })
})
