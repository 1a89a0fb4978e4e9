import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemorySource, type Model, openModel, TareError, verifySource } from '../../../../src/kit.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { fixtureBytes, fixtureSource, loadCases } from '../../../support/fixtures.js'
import { f32, hex, open, optimizerFile, toHex, u32 } from '../build.js'

const id = 'optimizer-json'
const sourceOfText = (text: string): MemorySource =>
  new MemorySource(new Uint8Array(Buffer.from(text)), 'settings.json')
const fromText = (text: string): Promise<Model> => openModel(sourceOfText(text))
const firstFile = (files: ReadonlyMap<string, Uint8Array>): Uint8Array => [...files.values()][0]!
const toText = async (model: Model): Promise<string> =>
  Buffer.from(firstFile(await convertToFiles(model, id))).toString()
const toOptimizer = async (model: Model): Promise<Uint8Array> => firstFile(await convertToFiles(model, 'primitiv'))

describe('settings as JSON', () => {
  const files = loadCases('primitiv')
    .filter(({ file, verdict }) => file.startsWith('opt_') && verdict === 'accept')
    .map(({ file }) => file)

  it.each(files)('%s, there and back, gives the same bytes', async (file) => {
    const text = await toText(await openModel(fixtureSource('primitiv', file)))
    expect(toHex(await toOptimizer(await fromText(text)))).toBe(toHex(fixtureBytes('primitiv', file)))
  })

  it('read well', async () => {
    const text = await toText(await openModel(fixtureSource('primitiv', 'opt_adam.optimizer')))
    expect(text).toBe(Buffer.from(fixtureBytes(id, 'adam.json')).toString())
    expect(JSON.parse(text)).toMatchObject({ class: 'Adam', float: { 'Adam.beta2': 0.99, 'Adam.eps': 1e-9 } })
  })

  it('are the same model when they are written as JSON again', async () => {
    for (const { file } of loadCases(id).filter(({ verdict }) => verdict !== 'reject')) {
      const model = await openModel(fixtureSource(id, file))
      const again = await openModel(sourceOf(await convertToFiles(model, id)))
      expect([...again.metadata]).toEqual([...model.metadata])
      expect(again.parts[0]!.value).toEqual(model.parts[0]!.value)
    }
  })

  it('are complete where a class is named, and say what was filled in', async () => {
    expect(toHex(await toOptimizer(await fromText('{"class": "SGD"}')))).toBe(
      toHex(fixtureBytes('primitiv', 'opt_sgd_default.optimizer')),
    )
    const { findings } = await verifySource(sourceOfText('{"float": {"SGD.eta": 1, "Optimizer.lr_scale": 1}}'))
    const defaults = findings.find(({ code }) => code === 'optimizer-json/defaults')
    expect(defaults).toMatchObject({ severity: 'note', message: expect.stringContaining('Optimizer.epoch') })
    expect(defaults!.message).not.toContain('SGD.eta')
  })

  it('of an unknown class are taken as they are', async () => {
    const bytes = await toOptimizer(await openModel(fixtureSource(id, 'own-class.json')))
    expect(toHex(bytes)).toBe(toHex(fixtureBytes('primitiv', 'odd_opt_unknown_and_missing_keys.optimizer')))
  })

  it('keep every float and every key', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.tuple(fc.uint8Array({ maxLength: 6 }), fc.nat(0xffff_ffff)), {
          selector: ([key]) => toHex(key),
          maxLength: 5,
        }),
        fc.nat(0xffff_ffff),
        async (settings, epoch) => {
          const bytes = optimizerFile(
            [['x.epoch', u32(epoch)]],
            settings.map(([key, bits]) => [key, hex(`ca${bits.toString(16).padStart(8, '0')}`)] as const),
          )
          const text = await toText((await open(bytes)).model)
          expect(toHex(await toOptimizer(await fromText(text)))).toBe(toHex(bytes))
        },
      ),
      { numRuns: 200 },
    )
  })

  it('name what a setting that occurs twice loses', async () => {
    const model = await openModel(fixtureSource('primitiv', 'odd_duplicate_config_key.optimizer'))
    expect(JSON.parse(await toText(model))).toMatchObject({ uint: { 'Optimizer.epoch': 3 } })
  })
})

describe('what is no such JSON', () => {
  it.each([
    ['[]', 'open/unknown-format'],
    ['{"uint": 1}', 'open/unknown-format'],
  ])('%s is not recognised', async (text, code) => {
    await expect(fromText(text)).rejects.toMatchObject({ code })
  })

  it.each([
    ['{"uint": {"a": 1.5}}', 'optimizer-json/range', 'uint.a', 15],
    ['{"uint": {"a": 4294967296}}', 'optimizer-json/range', 'uint.a', 15],
    ['{"uint": {"a": -1}}', 'optimizer-json/range', 'uint.a', 15],
    ['{"uint": {"a": "1"}}', 'optimizer-json/field', 'uint.a', 15],
    ['{"float": {"é": 1e39}}', 'optimizer-json/range', 'float["é"]', 17],
    ['{"float": {"a": "x"}}', 'optimizer-json/field', 'float.a', 16],
    ['{"float": {"a": "NaN:00000001"}}', 'optimizer-json/field', 'float.a', 16],
    ['{"float": {"a": [1]}}', 'optimizer-json/field', 'float.a', 16],
    ['{"class": null, "klass": 1}', 'optimizer-json/field', 'klass', 24],
    ['{"class": null, "uint": 1}', 'optimizer-json/field', 'uint', 24],
    ['{"class": "sgd"}', 'optimizer-json/class', 'class', 0],
    ['{"uint": {"a": 1, "a": 2}}', 'optimizer-json/duplicate-key', 'uint.a', 22],
    ['{"float": {}, "float": {}}', 'optimizer-json/duplicate-key', 'float', 22],
    ['{"float": {"a": 1}, "bytes": {"a": "61"}}', 'optimizer-json/field', 'bytes.a', 35],
    ['{"float": {"a": 1}, "bytes": {"a": "f"}}', 'optimizer-json/field', 'bytes.a', 35],
    ['{"float": {"a": 1, "b": 1}, "bytes": {"a": "ff", "b": "FF"}}', 'optimizer-json/field', 'bytes.b', 54],
    ['{"float": {"a": 1}, "bytes": {"b": "ff"}}', 'optimizer-json/field', 'bytes.b', 0],
    ['{"float": {"a": 1}', 'json/syntax', '', 18],
  ])('%s is refused', async (text, code, path, offset) => {
    const error = await fromText(text).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TareError)
    expect((error as TareError).finding).toMatchObject({ code, path, offset })
  })

  it('has a limit', async () => {
    const source = sourceOfText(`{"float": {}${' '.repeat(1 << 24)}}`)
    await expect(openModel(source)).rejects.toMatchObject({ code: 'optimizer-json/size' })
  })
})

describe('models without settings', () => {
  it('cannot become such JSON', async () => {
    const model = await openModel(fixtureSource('primitiv', 'model_single.model'))
    await expect(toText(model)).rejects.toMatchObject({ code: 'optimizer-json/no-settings' })
  })

  it('lose their tensors to it, and that is named', async () => {
    const { model } = await open(optimizerFile([], [['SGD.eta', f32(1)]]))
    const { tensors } = await openModel(fixtureSource('primitiv', 'model_single.model'))
    expect(JSON.parse(await toText({ ...model, tensors }))).toMatchObject({ class: 'SGD' })
  })
})
