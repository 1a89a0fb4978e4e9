// Tokens that only the files beside tokenizer.json name, with the ids and kinds that llama.cpp's converter gives them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { closeModel, MemorySource, type MetaValue, openInput, openModel } from '../../../src/kit-node.js'
import { findTextTokenizer } from '../../../src/tokenize/text-tokenizer.js'
import { convertToFiles } from '../../support/convert.js'
import { tinyConfig, tinyShapes, writeTinyModel } from '../tiny-model.js'
import { tinyTokenizer } from '../tiny-tokenizer.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-added-tokens-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
let count = 0

type Files = Readonly<Record<string, unknown>>

async function directory(files: Files, vocabulary = 272): Promise<string> {
  const path = join(scratch, String(count++), 'Tiny')
  const width = tinyConfig.hidden_size
  await writeTinyModel(path, {
    config: { ...tinyConfig, vocab_size: vocabulary, tie_word_embeddings: true },
    shapes: tied(vocabulary, width),
    files: { 'tokenizer.model': null },
  })
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return path
}

function tied(vocabulary: number, width: number): Record<string, readonly number[]> {
  const { 'lm_head.weight': _, ...shapes } = tinyShapes
  return { ...shapes, 'model.embed_tokens.weight': [vocabulary, width] }
}

async function metadataOf(path: string): Promise<ReadonlyMap<string, MetaValue>> {
  const model = await openModel(await openInput(path))
  try {
    const files = await convertToFiles(model, 'gguf', { name: 'model.gguf', preTokenizer: 'gpt-2' })
    return (await openModel(new MemorySource(files.get('model.gguf')!, 'model.gguf'))).metadata
  } finally {
    await closeModel(model)
  }
}

const plain = (value: MetaValue | undefined): unknown => {
  if (value?.type === 'array') return value.values().map(plain)
  return value && 'value' in value ? value.value : undefined
}

/** Texts and kinds from the first added token on. */
async function tokensOf(files: Files, vocabulary?: number): Promise<[unknown, unknown][]> {
  const metadata = await metadataOf(await directory(files, vocabulary))
  const tokens = plain(metadata.get('tokenizer.ggml.tokens')) as string[]
  const types = plain(metadata.get('tokenizer.ggml.token_type')) as number[]
  return tokens.slice(265).map((token, i) => [token, types[265 + i]])
}

const fast = { tokenizer_class: 'PreTrainedTokenizerFast' }
const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false }
const [begin, end] = [
  ['<|begin|>', 3],
  ['<|end|>', 3],
] as const
const unused = (...ids: number[]): [string, number][] => ids.map((id) => [`[PAD${id}]`, 5])

describe('tokens that only the files beside tokenizer.json name', () => {
  it.each([
    ['nothing more', { tokenizer_config: fast }, [begin, end, ...unused(267, 268, 269, 270, 271)]],
    [
      'a padding token',
      { tokenizer_config: { ...fast, pad_token: '<|pad|>' } },
      [begin, end, ['<|pad|>', 3], ...unused(268, 269, 270, 271)],
    ],
    [
      'special tokens of another class',
      { tokenizer_config: { tokenizer_class: 'LlamaTokenizer', bos_token: '<|begin|>', eos_token: '<|end|>' } },
      [begin, end, ['<unk>', 3], ...unused(268, 269, 270, 271)],
    ],
    [
      'tokens by id, whose order counts and not their ids',
      {
        tokenizer_config: {
          ...fast,
          added_tokens_decoder: {
            300: { ...flags, content: '<later>', special: false },
            290: { ...flags, content: '<earlier>', special: true },
          },
        },
      },
      [begin, end, ['<earlier>', 3], ['<later>', 4], ...unused(269, 270, 271)],
    ],
    [
      'the files of older versions',
      {
        tokenizer_config: fast,
        special_tokens_map: { pad_token: '<map>' },
        added_tokens: { '<x>': 267, '<map>': 268 },
      },
      [begin, end, ['<x>', 4], ['<map>', 3], ...unused(269, 270, 271)],
    ],
    [
      'more special tokens and those of a kind of model',
      {
        tokenizer_config: {
          ...fast,
          additional_special_tokens: ['<a>', '<b>'],
          extra_special_tokens: { image_token: '<image>' },
        },
      },
      [begin, end, ['<a>', 3], ['<b>', 3], ['<image>', 3], ...unused(270, 271)],
    ],
  ] as const)('%s', async (_, files, expected) => {
    const named = Object.fromEntries(Object.entries(files).map(([name, content]) => [`${name}.json`, content]))
    expect(await tokensOf({ 'tokenizer.json': tinyTokenizer, ...named })).toEqual(expected)
  })

  it('marks a word of the vocabulary that is a special token', async () => {
    const path = await directory({
      'tokenizer.json': tinyTokenizer,
      'tokenizer_config.json': { ...fast, bos_token: 'hello' },
    })
    const metadata = await metadataOf(path)
    const at = (plain(metadata.get('tokenizer.ggml.tokens')) as string[]).indexOf('hello')
    expect((plain(metadata.get('tokenizer.ggml.token_type')) as number[])[at]).toBe(3)
  })

  it('leaves out those that the embedding has no row for', async () => {
    const files = { 'tokenizer.json': tinyTokenizer, 'tokenizer_config.json': { ...fast, pad_token: '<|pad|>' } }
    expect(await tokensOf(files, 267)).toEqual([begin, end])
  })

  it('takes the bytes that characters of added tokens stand for', async () => {
    const own = { id: 267, content: 'Ġhi', special: false, ...flags }
    const tokenizer = { ...tinyTokenizer, added_tokens: [...tinyTokenizer.added_tokens, own] }
    const tokens = await tokensOf({ 'tokenizer.json': tokenizer, 'tokenizer_config.json': fast })
    expect(tokens[2]).toEqual([' hi', 4])
  })

  it('tokenizes with them', async () => {
    const path = await directory({
      'tokenizer.json': tinyTokenizer,
      'tokenizer_config.json': { ...fast, additional_special_tokens: ['<tool>'] },
    })
    const model = await openModel(await openInput(path))
    const tokenizer = await findTextTokenizer(model)
    expect(tokenizer?.encode('hello<tool>hello', { withoutSpecials: true }).ids).toEqual([259, 267, 259])
    await closeModel(model)
  })
})

describe('chat templates', () => {
  it('are read from files of their own, with the line ends of Python', async () => {
    const metadata = await metadataOf(
      await directory({
        'tokenizer.json': tinyTokenizer,
        'tokenizer_config.json': fast,
        'chat_template.jinja': 'main\r\n',
        'additional_chat_templates/tool-use.jinja': 'tools',
        'additional_chat_templates/notes.txt': 'not one',
      }),
    )
    const entries = [...metadata].filter(([key]) => key.startsWith('tokenizer.chat_template'))
    expect(entries.map(([key, value]) => [key, plain(value)])).toEqual([
      ['tokenizer.chat_template.tool_use', 'tools'],
      ['tokenizer.chat_templates', ['tool_use']],
      ['tokenizer.chat_template', 'main\n'],
    ])
  })
})
