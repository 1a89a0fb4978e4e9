// Directories that lie. Whatever a file says, a conversion ends, with a file for llama.cpp or with an error that names the place.
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { toGguf } from '../../src/families/index.js'
import { closeModel, openInput, openModel, TareError } from '../../src/kit-node.js'
import { goldenCases, isReady, makeDirectory } from './golden-cases.js'
import { type TinyOptions, tinyConfig, tinyShapes, writeTinyModel } from './tiny-model.js'
import { tinyTokenizer } from './tiny-tokenizer.js'

fc.configureGlobal({ seed: 24 })
const scratch = mkdtempSync(join(tmpdir(), 'tare-hostile-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let count = 0

/** What the conversion of a directory says; undefined if it succeeds. Errors of other kinds fail the test. */
async function outcomeOf(path: string): Promise<TareError | undefined> {
  const model = await openModel(await openInput(path))
  try {
    expect(await toGguf(model, { format: 'gguf', preTokenizer: 'gpt-2' })).toBeDefined()
    return undefined
  } catch (error) {
    if (error instanceof TareError) return error
    throw error
  } finally {
    await closeModel(model)
  }
}

const convertTiny = async (options: TinyOptions): Promise<TareError | undefined> =>
  outcomeOf(await writeTinyModel(join(scratch, String(count++)), options))

const strange = fc.oneof(
  fc.constantFrom(null, true, false, '', 'x', -1, 0, 1, 1.5, 2 ** 31, 2 ** 53, 1e308, -1e-308, 1e9),
  fc.constantFrom([], {}, [1, 2], [[]], { factor: 0 }, { type: 'yarn' }, { rope_type: 'llama3' }, 'NaN'),
  fc.integer(),
  fc.double(),
  fc.jsonValue({ maxDepth: 2 }),
)
const moreKeys = ['rope_scaling', 'rope_parameters', 'head_dim', 'text_config', 'quantization_config', 'model_type']

const lies = (config: object) =>
  fc.array(fc.tuple(fc.constantFrom(...Object.keys(config), ...moreKeys), fc.option(strange, { nil: undefined })), {
    minLength: 1,
    maxLength: 3,
  })

const told = (config: object, changes: readonly (readonly [string, unknown])[]): Record<string, unknown> => ({
  ...config,
  ...Object.fromEntries(changes.filter(([key]) => key !== 'architectures')),
})

describe('config.json', () => {
  it('may say anything', async () => {
    const run = async (changes: [string, unknown][]): Promise<void> => {
      const error = await convertTiny({ config: told(tinyConfig, changes) })
      if (error) expect(error.finding.file).toMatch(/config\.json$|model\.safetensors$|tokenizer\.model$/)
    }
    await fc.assert(fc.asyncProperty(lies(tinyConfig), run), { numRuns: 150 })
  })

  it.each<[string, Record<string, unknown>, string, string]>([
    ['too many layers', { num_hidden_layers: 3 }, 'family/tensor-missing', 'blk.2.'],
    ['too few layers', { num_hidden_layers: 1 }, 'family/tensor-unknown', 'model.layers.1.'],
    ['a count of layers that no model has', { num_hidden_layers: 1e9 }, 'family/config-value', 'num_hidden_layers'],
    ['heads that do not divide', { num_attention_heads: 3 }, 'family/tensor-shape', ''],
    ['no heads', { num_attention_heads: 0 }, 'family/', ''],
    ['more heads for keys than there are', { num_key_value_heads: 2 }, 'family/tensor-shape', 'blk.0.attn_k.weight'],
    ['another width', { hidden_size: 16 }, 'family/tensor-shape', ''],
    ['a text for a number', { rms_norm_eps: 'small' }, 'family/config-value', 'rms_norm_eps'],
    ['a vocabulary that no model has', { vocab_size: 2 ** 30 }, 'family/tokenizer', 'vocab_size'],
    ['an unknown architecture', { architectures: ['NobodysModel'] }, 'family/architecture', 'architectures[0]'],
  ])('is refused with %s', async (_, change, code, path) => {
    const error = await convertTiny({ config: { ...tinyConfig, ...change } })
    expect(error?.finding.code).toContain(code)
    expect(error?.finding.path).toContain(path)
  })

  it('is refused where tensors are missing, too many or of another shape', async () => {
    const { 'model.norm.weight': _, ...withoutNorm } = tinyShapes
    const { 'model.layers.1.mlp.up_proj.weight': __, ...withoutUp } = tinyShapes
    const codes = [
      { shapes: withoutNorm },
      { shapes: withoutUp },
      { shapes: { ...tinyShapes, 'model.layers.0.extra.weight': [1] } },
      { shapes: { ...tinyShapes, 'model.layers.0.mlp.up_proj.weight': [8, 12] } },
      { shapes: { ...tinyShapes, 'model.norm.weight': [9] } },
    ].map(async (options) => (await convertTiny(options))?.finding.code)
    expect(await Promise.all(codes)).toEqual([
      'family/tensor-missing',
      'family/tensor-missing',
      'family/tensor-unknown',
      'family/tensor-shape',
      'family/tensor-shape',
    ])
  })
})

const withTokenizer = (tokenizer: unknown): TinyOptions => ({
  config: { ...tinyConfig, vocab_size: 267 },
  shapes: { ...tinyShapes, 'model.embed_tokens.weight': [267, 8], 'lm_head.weight': [267, 8] },
  files: { 'tokenizer.model': null, 'tokenizer.json': JSON.stringify(tokenizer) },
})

describe('tokenizer files', () => {
  it('convert as they are', async () => {
    expect(await convertTiny(withTokenizer(tinyTokenizer))).toBeUndefined()
  })

  it('may say anything', async () => {
    const keys = ['added_tokens', 'normalizer', 'pre_tokenizer', 'post_processor', 'decoder', 'model'] as const
    const change = fc.oneof(
      fc.tuple(fc.constantFrom(...keys), strange).map(([key, value]) => ({ ...tinyTokenizer, [key]: value })),
      fc.tuple(fc.constantFrom('type', 'vocab', 'merges', 'unk_token'), strange).map(([key, value]) => ({
        ...tinyTokenizer,
        model: { ...tinyTokenizer.model, [key]: value },
      })),
      fc.tuple(fc.constantFrom('type', 'pattern', 'pretokenizers', 'behavior'), strange).map(([key, value]) => ({
        ...tinyTokenizer,
        pre_tokenizer: { type: 'Split', pattern: { Regex: 'a' }, [key]: value },
      })),
    )
    const run = async (tokenizer: unknown): Promise<void> => {
      const error = await convertTiny(withTokenizer(tokenizer))
      if (error) expect(error.finding.file).toMatch(/tokenizer\.json$/)
    }
    await fc.assert(fc.asyncProperty(change, run), { numRuns: 150 })
  })

  it('may be cut or damaged anywhere', async () => {
    const path = await writeTinyModel(join(scratch, 'whole'))
    const whole = new Uint8Array(readFileSync(join(path, 'tokenizer.model')))
    const damage = fc.tuple(fc.nat(whole.length - 1), fc.nat(255), fc.boolean())
    const run = async ([at, byte, isCut]: [number, number, boolean]): Promise<void> => {
      const bytes = isCut ? whole.slice(0, at) : Uint8Array.from(whole, (each, i) => (i === at ? byte : each))
      writeFileSync(join(path, 'tokenizer.model'), bytes)
      await outcomeOf(path)
    }
    await fc.assert(fc.asyncProperty(damage, run), { numRuns: 80 })
  })
})

describe.skipIf(!isReady)('config.json of every architecture', () => {
  for (const golden of goldenCases) {
    it(`${golden.name} may say anything`, { timeout: 120_000 }, async () => {
      const path = makeDirectory(golden, scratch)
      const config: Record<string, unknown> = JSON.parse(readFileSync(join(path, 'config.json'), 'utf8'))
      // Tokenizers have tests of their own, and the published ones are large.
      writeFileSync(join(path, 'tokenizer.json'), JSON.stringify(tinyTokenizer))
      const tiny = await writeTinyModel(join(scratch, 'pieces'))
      if (existsSync(join(path, 'tokenizer.model')))
        copyFileSync(join(tiny, 'tokenizer.model'), join(path, 'tokenizer.model'))
      const run = async (changes: [string, unknown][]): Promise<void> => {
        writeFileSync(join(path, 'config.json'), JSON.stringify(told(config, changes)))
        await outcomeOf(path)
      }
      await fc.assert(fc.asyncProperty(lies(config), run), { numRuns: 10 })
      rmSync(path, { recursive: true })
    })
  }
})
