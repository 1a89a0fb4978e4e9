// Tokenizers that models bring, in tokenizer.json and in GGUF, with one that is made up.
import { writeFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TareError } from '../../src/errors/index.js'
import { toGguf } from '../../src/families/index.js'
import { closeModel, openInput, openModel } from '../../src/kit-node.js'
import { createTextTokenizer, findTextTokenizer, parseIds, type TextTokenizer } from '../../src/tokenize/index.js'
import { runCli as tare } from '../cli/run-cli.js'
import { tinyConfig, tinyShapes, writeTinyModel } from '../families/tiny-model.js'
import { tinyTokenizer } from '../families/tiny-tokenizer.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'

const at = useTempDir()

const directory = (): Promise<string> =>
  writeTinyModel(at('model'), {
    config: { ...tinyConfig, vocab_size: 267 },
    shapes: { ...tinyShapes, 'model.embed_tokens.weight': [267, 8], 'lm_head.weight': [267, 8] },
    files: {
      'tokenizer.model': null,
      'tokenizer.json': JSON.stringify(tinyTokenizer),
      'tokenizer_config.json': '{"tokenizer_class": "PreTrainedTokenizerFast"}',
    },
  })

/** The tokenizer of the GGUF file that is made of the directory. */
async function ofGguf(): Promise<TextTokenizer> {
  const model = await openModel(await openInput(await directory()))
  try {
    const { model: made } = (await toGguf(model, { format: 'gguf', preTokenizer: 'gpt-2' }))!
    return (await findTextTokenizer({ ...made, files: [] }))!
  } finally {
    await closeModel(model)
  }
}

describe('createTextTokenizer', () => {
  it('gives ids, tokens and text', async () => {
    const tokenizer = await createTextTokenizer({ tokenizer: tinyTokenizer })
    expect(tokenizer.kind).toBe('BPE')
    const { ids } = tokenizer.encode('hello world')
    expect(ids.map((id) => tokenizer.token(id))).toEqual(['<|begin|>', 'hello', 'Ġworld'])
    expect(tokenizer.decode(ids)).toBe('<|begin|>hello world')
    expect(tokenizer.decode(ids, { withoutSpecials: true })).toBe('hello world')
    expect(tokenizer.encode('hello world', { withoutSpecials: true }).ids).toEqual(ids.slice(1))
    expect(tokenizer.encode('hello world', { maxLength: 2 })).toEqual({ ids: ids.slice(0, 2), count: 2, cut: 1 })
    expect(tokenizer.decode([9999])).toBe('')
  })

  it.each<[string, unknown, string]>([
    ['no object', [], ''],
    ['no model', {}, 'model'],
    ['a vocabulary that is none', { ...tinyTokenizer, model: { type: 'BPE', vocab: null, merges: null } }, 'model'],
    ['a model that nobody knows', { ...tinyTokenizer, model: { type: 'Magic' } }, 'model'],
    [
      'a pattern that runs forever',
      { ...tinyTokenizer, pre_tokenizer: { type: 'Split', pattern: { Regex: '(a+)+$' } } },
      'pre_tokenizer.pattern.Regex',
    ],
  ])('refuses %s', async (_, tokenizer, path) => {
    const error = await createTextTokenizer({ tokenizer, file: 'x/tokenizer.json' }).catch((each) => each)
    expect(error).toBeInstanceOf(TareError)
    expect(error.finding).toMatchObject({ code: 'tokenize/tokenizer-file', file: 'x/tokenizer.json', path })
  })
})

describe('findTextTokenizer', () => {
  it('gives the same ids for a directory and for the GGUF made of it', async () => {
    const original = await createTextTokenizer({ tokenizer: tinyTokenizer })
    const rebuilt = await ofGguf()
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string(), fc.constantFrom('hello world<|end|>', ' \n\t '))
    const run = (each: string): void => {
      expect(rebuilt.encode(each).ids).toEqual(original.encode(each).ids)
      expect(rebuilt.decode(rebuilt.encode(each).ids)).toBe(original.decode(original.encode(each).ids))
    }
    fc.assert(fc.property(text, run), { seed: 11 })
  })

  it('joins SentencePiece pieces by their scores, and falls back to bytes', async () => {
    const metadata = new Map<string, unknown>([
      ['tokenizer.ggml.model', { type: 'str', value: 'llama' }],
      ['tokenizer.ggml.tokens', list('str', ['<unk>', '<s>', '▁', 'a', 'b', '▁a', 'ab', '▁ab', '<0x41>'])],
      ['tokenizer.ggml.scores', list('f32', [0, 0, -9, -9, -9, -2, -1, -3, 0])],
      ['tokenizer.ggml.token_type', list('i32', [2, 3, 1, 1, 1, 1, 1, 1, 6])],
      ['tokenizer.ggml.bos_token_id', { type: 'u32', value: 1 }],
    ])
    const model = { format: 'gguf', metadata: metadata as never, tensors: [], parts: [], files: [] }
    const tokenizer = (await findTextTokenizer(model))!
    const tokens = (text: string) => tokenizer.encode(text).ids.map((id) => tokenizer.token(id))
    expect(tokens('ab aA')).toEqual(['<s>', '▁ab', '▁a', '<0x41>'])
    expect(tokenizer.decode([7, 5, 8])).toBe('ab aA')
  })

  it('reads a directory that has nothing but tokenizer.model', async () => {
    const model = await openModel(await openInput(await writeTinyModel(at('pieces'))))
    const tokenizer = (await findTextTokenizer(model))!
    await closeModel(model)
    expect(tokenizer.file).toMatch(/tokenizer\.model$/)
    expect(tokenizer.decode([4, 3, 5])).toBe('aAb')
  })

  it('refuses GGUF tokenizers that are broken or unknown', async () => {
    const metadata = (model: string, more: object = {}) => new Map(Object.entries({ ...entries(model), ...more }))
    const codeOf = (map: Map<string, unknown>): Promise<string> =>
      findTextTokenizer({ format: 'gguf', metadata: map as never, tensors: [], parts: [], files: [] }).then(
        () => '',
        (error: TareError) => `${error.finding.path}: ${error.finding.message}`,
      )
    expect(await codeOf(metadata('rwkv'))).toContain('tokenizer.ggml.model: "rwkv" cannot be run here')
    const pre = { 'tokenizer.ggml.pre': { type: 'str', value: 'kimi-k2' } }
    expect(await codeOf(metadata('gpt2', pre))).toContain('tokenizer.ggml.pre: "kimi-k2"')
    const types = { 'tokenizer.ggml.token_type': list('i32', [1, 1]) }
    expect(await codeOf(metadata('gpt2', types))).toContain('2 numbers, but there are 1 tokens')
    const tokens = { 'tokenizer.ggml.tokens': { type: 'u32', value: 1 } }
    expect(await codeOf(metadata('gpt2', tokens))).toContain('a list of texts was expected')
    expect(await codeOf(metadata('t5'))).toContain('needs a score')
  })
})

const list = (type: string, values: readonly unknown[]) => ({
  type: 'array',
  item: type,
  length: values.length,
  values: () => values.map((value) => ({ type, value })),
})
const entries = (model: string) => ({
  'tokenizer.ggml.model': { type: 'str', value: model },
  'tokenizer.ggml.tokens': list('str', ['a']),
})

describe('parseIds', () => {
  it('takes numbers between spaces or commas', () => {
    expect(parseIds(' [1, 2,3] ')).toEqual([1, 2, 3])
    expect(parseIds('4 5\n6')).toEqual([4, 5, 6])
    expect(() => parseIds('1 -2')).toThrow('"-2" is not an id')
  })
})

describe('tare tokenize', () => {
  it('takes a directory, a tokenizer.json and a GGUF file', async () => {
    const path = await directory()
    const model = await openModel(await openInput(path))
    const files = await convertToFiles(model, 'gguf', { name: 'model.gguf', preTokenizer: 'gpt-2' })
    await closeModel(model)
    writeFileSync(at('model.gguf'), files.get('model.gguf')!)
    for (const input of [path, `${path}/tokenizer.json`, at('model.gguf')]) {
      const { status, stdout } = await tare('tokenize', '--json', input, 'hello world')
      expect(status).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({
        ...{ file: input, profile: 'model', tokenizer: 'BPE', text: 'hello world', ids: [265, 259, 264], cut: 0 },
        tokens: ['<|begin|>', 'hello', 'Ġworld'],
      })
      const back = await tare('tokenize', '--decode', '--no-special', input, '265 259 264')
      expect(back.stdout).toBe('hello world\n')
    }
  })

  it('escapes what ids become, and refuses what is no id', async () => {
    const input = `${await directory()}/tokenizer.json`
    const id = tinyTokenizer.model.vocab[String.fromCodePoint(256 + 27)]
    expect((await tare('tokenize', '--decode', input, String(id))).stdout).toBe('\\x1b\n')
    const { status, stderr } = await tare('tokenize', '--decode', input, 'x')
    expect([status, stderr]).toEqual([1, expect.stringContaining('"x" is not an id')])
  })
})
