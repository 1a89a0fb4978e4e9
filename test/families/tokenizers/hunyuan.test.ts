// HunYuan's ends of texts and turns, by the rules of llama.cpp's converter with the configuration classes of transformers 4.57.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { plainValue } from '../../../src/families/to-hub/entries.js'
import { MemorySource, openModel } from '../../../src/kit-node.js'
import { convertToFiles } from '../../support/convert.js'
import { convertDirectory } from '../golden-cases.js'
import { writeTinyModel } from '../tiny-model.js'
import { tokenizerFiles, variants } from '../variants/index.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-hunyuan-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let count = 0

/** A directory with these settings as GGUF. */
async function converted(settings: object, generation?: unknown, tokenizerConfig?: object): Promise<Uint8Array> {
  const { config, shapes, tokenizer } = variants.HunYuan!
  const path = await writeTinyModel(join(scratch, String(count++)), {
    config: { ...config, ...settings },
    shapes,
    files: {
      ...tokenizerFiles[tokenizer],
      ...(tokenizerConfig && { 'tokenizer_config.json': JSON.stringify(tokenizerConfig) }),
      ...(generation !== undefined && { 'generation_config.json': JSON.stringify(generation) }),
    },
  })
  return convertDirectory(path, 'f32')
}

/** Special tokens in the order of the file, without `tokenizer.ggml.`. */
async function idsOf(gguf: Uint8Array): Promise<[string, unknown][]> {
  const { metadata } = await openModel(new MemorySource(gguf, 'model.gguf'))
  const ids = [...metadata].filter(([key]) => /^tokenizer\.ggml\.\w+_token_id$/.test(key))
  return ids.map(([key, value]) => [key.slice('tokenizer.ggml.'.length), plainValue(value)])
}

const [bos, eos] = [
  ['bos_token_id', 1],
  ['eos_token_id', 2],
]

describe('the end of a text', () => {
  it('is what config.json calls the end of a document, in the place of the other', async () => {
    const ids = await idsOf(await converted({ model_type: 'hunyuan', eod_token_id: 9 }))
    expect(ids).toEqual([bos, ['eos_token_id', 9]])
  })

  it('is not that where the configuration class drops it', async () => {
    expect(await idsOf(await converted({ eod_token_id: 9 }))).toEqual([bos, eos])
  })

  it('is one that config.json lists only if the tokenizer says so', async () => {
    expect(await idsOf(await converted({ eos_token_id: [9, 2] }))).toEqual([bos, eos])
    const ids = await idsOf(await converted({ eos_token_id: [9, 2] }, undefined, { bos_token: '<s>' }))
    expect(ids).toEqual([bos])
  })
})

describe('the end of a turn', () => {
  it('is the first of several ends in generation_config.json', async () => {
    const ids = await idsOf(await converted({}, { eos_token_id: [10, 2] }))
    expect(ids).toEqual([bos, eos, ['eot_token_id', 10]])
  })

  it.each([[[10]], [10], [[]], [null]])('is not known from %j', async (stated) => {
    expect(await idsOf(await converted({}, { eos_token_id: stated }))).toEqual([bos, eos])
  })
})

it('padding is left out where config.json has none', async () => {
  const named = { bos_token: '<s>', eos_token: '</s>', pad_token: '<|user|>' }
  expect(await idsOf(await converted({}, undefined, named))).toEqual([bos, eos, ['padding_token_id', 10]])
  expect(await idsOf(await converted({ pad_token_id: -1 }, undefined, named))).toEqual([bos, eos])
})

it.each([
  ['eod_token_id', { model_type: 'hunyuan', eod_token_id: 'last' }, {}, /\/config\.json$/],
  ['eos_token_id[0]', {}, { eos_token_id: [-1, 2] }, /\/generation_config\.json$/],
])('%s that is no id is refused', async (path, settings, generation, file) => {
  await expect(converted(settings, generation)).rejects.toMatchObject({
    code: 'family/tokenizer',
    finding: { path, file: expect.stringMatching(file) },
  })
})

it('a file with both becomes a directory, and the same file again', async () => {
  const gguf = await converted({ model_type: 'hunyuan', eod_token_id: 9 }, { eos_token_id: [10, 2] })
  const model = await openModel(new MemorySource(gguf, 'model.gguf'))
  const back = join(scratch, 'Back-7B-Chat')
  for (const [name, bytes] of await convertToFiles(model, 'safetensors', { name: 'model.safetensors', folder: true })) {
    mkdirSync(dirname(join(back, name)), { recursive: true })
    writeFileSync(join(back, name), bytes)
  }
  expect(await convertDirectory(back, 'f32')).toEqual(gguf)
})
