import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeModelInfo } from '../../../../src/formats/mcf/model-info/encode.js'
import { modelInfoFromConfig } from '../../../../src/formats/mcf/model-info/from-config.js'
import { parseModelInfo } from '../../../../src/formats/mcf/model-info/model-info.js'
import { modelName } from '../../../../src/formats/mcf/write/encode-sections.js'
import type { MetaValue } from '../../../../src/kit.js'
import { openModel, readPayload } from '../../../../src/kit.js'
import { fixturePath, fixtureSource } from '../../../support/fixtures.js'

fc.configureGlobal({ seed: 3 })

interface Listed {
  readonly [key: string]: unknown
  readonly extras: Readonly<Record<string, { u32?: number; f32?: number; string?: string }>>
}
const manifest = JSON.parse(readFileSync(fixturePath('mcf', 'manifest.json'), 'utf8')) as {
  files: { file: string; model_info?: Listed }[]
}
const listed = manifest.files.filter(({ file, model_info }) => model_info && !/^(corrupt|lenient)/.test(file))
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('ModelInfo', () => {
  it.each(listed)('of $file says what the list says, and is written the same', async ({ file, model_info }) => {
    const model = await openModel(fixtureSource('mcf', file))
    const part = model.parts.find(({ kind }) => kind === 'mcf.model-info')!
    const bytes = await readPayload(part.data!)
    const parsed = parseModelInfo(bytes)
    if (typeof parsed === 'string') throw new Error(parsed)
    const { extras, ...fields } = model_info!
    for (const [key, value] of Object.entries(fields)) {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
      expect(parsed.info[name as 'arch'], key).toBe(value)
    }
    for (const [key, value] of Object.entries(extras))
      expect(parsed.extras.get(key), key).toMatchObject({ value: value.u32 ?? value.f32 ?? value.string })
    expect(parsed.extras.size).toBe(Object.keys(extras).length)
    // What follows from config.json is shown with the section; all else is metadata.
    const shown = Object.keys(part.value as object).filter((key) => key.startsWith('hf.'))
    expect([...model.metadata.keys(), ...shown].toSorted()).toEqual(Object.keys(extras).toSorted())
    expect(Buffer.compare(encodeModelInfo(parsed.info, parsed.extras), bytes)).toBe(0)
  })

  it('survives writing and parsing', () => {
    const u32 = fc.integer({ min: 0, max: 0xffffffff })
    const float = fc.float({ noNaN: true, noDefaultInfinity: true })
    const value = fc.oneof(
      fc.record({ type: fc.constant('u32' as const), value: u32 }),
      fc.record({ type: fc.constant('f32' as const), value: float }),
      fc.record({ type: fc.constant('str' as const), value: fc.string({ unit: 'binary' }) }),
    )
    const key = fc.string({ unit: 'binary', minLength: 1 })
    const names = { modelName: fc.string({ unit: 'binary' }), baseModel: fc.string() }
    const counts = Object.fromEntries(
      [
        'arch',
        'vocabSize',
        'hiddenSize',
        'layerCount',
        'headCount',
        'headCountKv',
        'contextLength',
        'trainContext',
        'ropeType',
      ].map((field) => [field, u32]),
    )
    const info = fc.record({ ...counts, ropeFreqBase: float, ropeScale: float, ...names })
    fc.assert(
      fc.property(info, fc.array(fc.tuple(key, value), { maxLength: 6 }), (fields, pairs) => {
        const extras = new Map<string, MetaValue>(pairs)
        const parsed = parseModelInfo(encodeModelInfo(fields as never, extras))
        if (typeof parsed === 'string') throw new Error(parsed)
        expect(parsed.info).toEqual(fields)
        expect(parsed.extras.size).toBe(extras.size)
        for (const [name, value] of extras) expect(parsed.extras.get(name)).toEqual({ ...value })
      }),
      { numRuns: 20 },
    )
  })

  it('never fails on bytes that are something else', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.boolean(), (bytes, versioned) => {
        if (versioned && bytes.length > 3) bytes.set([1, 0, 0, 0])
        expect(parseModelInfo(bytes)).toBeDefined()
      }),
    )
    const shared = encodeModelInfo(
      { ...emptyInfo(), modelName: 'x'.repeat(64) },
      new Map([['k', { type: 'u32', value: 1 }]]),
    )
    new DataView(shared.buffer).setUint32(72, 0xffffffff, true)
    expect(parseModelInfo(shared)).toMatch(/do not fit/)
  })
})

function emptyInfo() {
  return modelInfoFromConfig(new Uint8Array(), '').info
}

describe('modelInfoFromConfig', () => {
  const fill = (config: unknown) => modelInfoFromConfig(encode(JSON.stringify(config)), 'm')

  it('takes whole numbers that fit, and nothing else', () => {
    const { info } = fill({
      vocab_size: 3.9,
      hidden_size: -1,
      num_hidden_layers: 2 ** 32,
      num_attention_heads: '4',
      rope_theta: 1e300,
    })
    expect(info).toMatchObject({ vocabSize: 3, hiddenSize: 0, layerCount: 0, headCount: 0, ropeFreqBase: 0 })
  })

  it('knows the words of other architectures, after those that the reference looks for', () => {
    const { info } = fill({ n_embd: 768, n_layer: 12, n_head: 6, n_ctx: 1024, rotary_emb_base: 5000 })
    expect(info).toMatchObject({
      ...{ hiddenSize: 768, layerCount: 12, headCount: 6, headCountKv: 0, contextLength: 1024, ropeFreqBase: 5000 },
    })
    expect(fill({ n_layers: 3, num_hidden_layers: 4, dim: 1, hidden_size: 2 }).info).toMatchObject({
      layerCount: 4,
      hiddenSize: 2,
    })
  })

  it('finds the architecture as a part of the model type', () => {
    const arch = (model_type: unknown) => fill({ model_type }).info.arch
    expect(['llama4', 'Mistral', 'qwen2_moe', 'gemma3_text', 'granite', 'smollm3', 7].map(arch)).toEqual([
      1, 2, 3, 4, 0, 6, 0,
    ])
  })

  it('notes what else there is', () => {
    expect([...fill({ model_type: 'x', rope_scaling: { a: 1 } }).extras.keys()]).toEqual([
      'hf.config_json_present',
      'hf.model_type',
      'hf.rope_scaling',
    ])
    expect([...fill({ rope_scaling: {} }).extras.keys()]).toEqual(['hf.config_json_present'])
    expect(modelInfoFromConfig(encode('{'), 'm')).toMatchObject({ info: { modelName: 'm' }, extras: new Map() })
  })
})

describe('modelName', () => {
  it('is the folder, or the file without its extension', () => {
    expect(
      ['a/b/model.safetensors', './m.safetensors', '../x.gguf', 'm.safetensors.index.json', ''].map(modelName),
    ).toEqual(['b', 'm', 'x', 'm', ''])
  })
})
