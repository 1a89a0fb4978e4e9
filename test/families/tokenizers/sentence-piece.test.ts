// SentencePiece's model files: what SentencePiece itself refuses to open is refused, and what is written can be opened by it.
import { describe, expect, it } from 'vitest'
import { joinBytes } from '../../../src/bytes/index.js'
import type { Family } from '../../../src/families/family.js'
import { publishTokenizer } from '../../../src/families/to-hub/tokenizer/publish.js'
import { readSentencePiece } from '../../../src/families/tokenizers/sentence-piece.js'
import { listOf, type MetaValue, text } from '../../../src/model/index.js'
import { joinRopes, protoFloat, protoInt, protoMessage, protoText } from '../../../src/wire/protobuf/write.js'

type Piece = readonly [text: string, kind: number]
const [normal, unknown, control, byte] = [1, 2, 3, 6]

const modelOf = (pieces: readonly Piece[], trainer: readonly (readonly [field: number, value: number])[] = []) =>
  joinBytes(
    joinRopes([
      ...pieces.map(([piece, kind]) => protoMessage(1, [protoText(1, piece), protoFloat(2, -1), protoInt(3, kind)])),
      protoMessage(
        2,
        trainer.map(([field, value]) => protoInt(field, value)),
      ),
    ]).pieces,
  )

const sound: readonly Piece[] = [
  ['<unk>', unknown],
  ['<s>', control],
  ['▁a', normal],
]
const bytes = (count: number): Piece[] =>
  Array.from({ length: count }, (_, i) => [`<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`, byte])

const refusal = (model: Uint8Array): Promise<unknown> =>
  readSentencePiece(model, 'tokenizer.model').then(
    () => 'read',
    ({ finding: { code, path } }) => `${code} ${path}`,
  )

describe('SentencePiece', () => {
  it.each([
    ['sound pieces', modelOf(sound), 'read'],
    ['pieces for all bytes', modelOf([...sound, ...bytes(256)], [[35, 1]]), 'read'],
    ['a piece twice', modelOf([...sound, ['▁a', normal]]), 'family/tokenizer pieces[3]'],
    ['an empty piece', modelOf([...sound, ['', normal]]), 'family/tokenizer pieces[3]'],
    ['no unknown piece', modelOf(sound.slice(1)), 'family/tokenizer pieces'],
    ['two unknown pieces', modelOf([...sound, ['b', unknown]]), 'family/tokenizer pieces'],
    ['a missing byte', modelOf([...sound, ...bytes(255)], [[35, 1]]), 'family/tokenizer pieces'],
  ])('%s', async (_, model, expected) => {
    expect(await refusal(model)).toBe(expected)
  })

  it('text that is not UTF-8', async () => {
    const model = modelOf(sound)
    model[model.indexOf(0xe2)] = 0xff
    expect(await refusal(model)).toBe('family/tokenizer pieces[2]')
  })

  it('is written with an unknown piece, which GGUF has as a control token where tokenizer_config.json lists it', async () => {
    const tokens = sound.map(([piece]) => text(piece))
    const types = [control, control, normal].map((value): MetaValue => ({ type: 'i32', value }))
    const scores = [-1000, -1000, -1].map((value): MetaValue => ({ type: 'f32', value }))
    const metadata = new Map<string, MetaValue>([
      ['tokenizer.ggml.model', text('llama')],
      ['tokenizer.ggml.tokens', listOf('str', tokens)],
      ['tokenizer.ggml.scores', listOf('f32', scores)],
      ['tokenizer.ggml.token_type', listOf('i32', types)],
    ])
    const { files } = publishTokenizer(metadata, { tokenizer: 'llama' } as Family, 'model.gguf')!
    const { pieces } = await readSentencePiece(files.get('tokenizer.model') as Uint8Array, 'tokenizer.model')
    expect(pieces.map(({ type }) => type)).toEqual([unknown, control, normal])
  })

  it('is written for T5 with its table of characters, and with the tokens that are no pieces', async () => {
    const texts = ['<pad>', '<unk>', '▁a', '<x>', '[PAD4]']
    const map = [1, 2, 255].map((value): MetaValue => ({ type: 'u8', value }))
    const numbers = (type: 'i32' | 'f32', values: readonly number[]): MetaValue =>
      listOf(
        type,
        values.map((value) => ({ type, value })),
      )
    const metadata = new Map<string, MetaValue>([
      ['tokenizer.ggml.model', text('t5')],
      ['tokenizer.ggml.tokens', listOf('str', texts.map(text))],
      ['tokenizer.ggml.scores', numbers('f32', [0, 0, -1, -1000, -10000])],
      ['tokenizer.ggml.token_type', numbers('i32', [control, unknown, normal, 4, 5])],
      ['tokenizer.ggml.remove_extra_whitespaces', { type: 'bool', value: true }],
      ['tokenizer.ggml.precompiled_charsmap', listOf('u8', map)],
    ])
    const { files } = publishTokenizer(metadata, { tokenizer: 't5' } as Family, 'model.gguf')!
    const model = await readSentencePiece(files.get('spiece.model') as Uint8Array, 'spiece.model')
    expect(model).toMatchObject({ isUnigram: true, addsPrefix: true, removesSpaces: true })
    expect(model.pieces.map((piece) => piece.text)).toEqual(['<pad>', '<unk>', '▁a'])
    expect([...model.charsmap]).toEqual([1, 2, 255])
    expect(files.get('added_tokens.json')).toEqual({ '<x>': 3 })
  })
})
