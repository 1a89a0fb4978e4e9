// The tokenizer of a GGUF file as tokenizer.json: libraries count the ids of added tokens themselves, and must come to those of the file.
import { describe, expect, it } from 'vitest'
import { ModelDirectory } from '../../../src/families/directory.js'
import type { Config, Family } from '../../../src/families/family.js'
import { publishTokenizer } from '../../../src/families/to-hub/tokenizer/publish.js'
import { addedTokensOf } from '../../../src/families/tokenizers/added-tokens.js'
import { readTokenizerFiles } from '../../../src/families/tokenizers/files.js'
import { listOf, type MetaValue, text } from '../../../src/model/index.js'
import { tinyVocabulary } from '../tiny-tokenizer.js'

const [normal, unknown, control, userDefined, unused] = [1, 2, 3, 4, 5]
type Token = readonly [text: string, type: number]

const metadataOf = (model: string, tokens: readonly Token[], more: Readonly<Record<string, MetaValue>> = {}) =>
  new Map<string, MetaValue>(
    Object.entries({
      model: text(model),
      pre: text(model === 'gpt2' ? 'gpt-2' : 'default'),
      tokens: listOf(
        'str',
        tokens.map(([token]) => text(token)),
      ),
      token_type: listOf(
        'i32',
        tokens.map(([, value]) => ({ type: 'i32', value })),
      ),
      ...more,
    }).map(([key, value]) => [`tokenizer.ggml.${key}`, value]),
  )

const publish = (metadata: ReadonlyMap<string, MetaValue>, tokenizer: Family['tokenizer'] = 'llama') =>
  publishTokenizer(metadata, { tokenizer } as Family, 'model.gguf')!.files.get('tokenizer.json') as Config & {
    readonly model: Config & { readonly vocab: Readonly<Record<string, number>> }
  }

/** What the library takes the ids of the added tokens to be. */
async function idsOf(tokenizer: ReturnType<typeof publish>): Promise<Record<string, number>> {
  const directory = new ModelDirectory({ format: '', metadata: new Map(), tensors: [], parts: [], files: [] })
  const files = await readTokenizerFiles(directory, {})
  const { added } = await addedTokensOf(files, tokenizer, new Map(Object.entries(tokenizer.model.vocab)))
  return Object.fromEntries(added.map(({ content, id }) => [content, id]))
}

const words: readonly Token[] = Object.keys(tinyVocabulary).map((word) => [word, normal])

describe('added tokens keep their ids', () => {
  it.each([
    ['behind all others', [...words, ['<s>', control], ['<x>', userDefined]], { '<s>': 265, '<x>': 266 }],
    ['before all others', [['<s>', control], ['<x>', userDefined], ...words], { '<s>': 0, '<x>': 1 }],
    [
      'behind ids without a token',
      [...words, ['[PAD265]', unused], ['<s>', control], ['[PAD267]', unused], ['<x>', userDefined]],
      { '<s>': 266, '<x>': 268 },
    ],
    ['where two tokens have one text', [...words, ['hello', normal], ['<s>', control]], { '<s>': 266 }],
  ] as const)('%s, in byte-level BPE', async (_, tokens, expected) => {
    const tokenizer = publish(metadataOf('gpt2', tokens as readonly Token[]))
    expect(await idsOf(tokenizer)).toEqual(expected)
    expect(Object.keys(tokenizer.model.vocab)).not.toContain('[PAD265]')
  })

  const pieces: readonly Token[] = [
    ['<unk>', unknown],
    ['<s>', control],
    ...['▁', 'a', 'b', 'ab', '▁ab'].map((piece): Token => [piece, normal]),
  ]
  it.each([
    ['behind all pieces', [...pieces, ['<x>', control]], { '<unk>': 0, '<s>': 1, '<x>': 7 }],
    [
      'where two pieces have one text',
      [...pieces, ['a', normal], ['<x>', control]],
      { '<unk>': 0, '<s>': 1, '<x>': 8 },
    ],
  ] as const)('%s, in SentencePiece', async (_, tokens, expected) => {
    const scores = listOf(
      'f32',
      tokens.map(([, type], i) => ({ type: 'f32', value: type === control ? -1000 : -i })),
    )
    const tokenizer = publish(metadataOf('llama', tokens as readonly Token[], { scores }))
    expect(await idsOf(tokenizer)).toEqual(expected)
    expect(tokenizer.model.merges).toEqual(['a b', '▁ ab'])
  })
})

describe('what stands around a text', () => {
  const id = (value: number): MetaValue => ({ type: 'u32', value })
  const bert: readonly Token[] = [
    ['[CLS]', control],
    ['[SEP]', control],
    ['[UNK]', control],
    ['▁hi', normal],
  ]

  it('is what llama.cpp puts there where the file does not say it', () => {
    const metadata = metadataOf('bert', bert, {
      bos_token_id: id(0),
      seperator_token_id: id(1),
      unknown_token_id: id(2),
    })
    expect(publish(metadata, 'wordpiece')).toMatchObject({
      normalizer: { lowercase: true, strip_accents: null },
      post_processor: {
        single: [{ SpecialToken: { id: '[CLS]' } }, { Sequence: { id: 'A' } }, { SpecialToken: { id: '[SEP]' } }],
      },
    })
  })

  it('is nothing where the file says so', () => {
    const no: MetaValue = { type: 'bool', value: false }
    const ids = { bos_token_id: id(0), eos_token_id: id(1), add_bos_token: no, add_eos_token: no }
    expect(publish(metadataOf('bert', bert, ids), 'wordpiece')).toMatchObject({ post_processor: null })
  })
})
