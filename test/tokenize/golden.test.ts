// Ids that the reference library gives, and ids that are known for BERT.
import { describe, expect, it } from 'vitest'
import { createTokenizer } from '../../src/tokenize/index.js'
import { fixtureBytes } from '../support/fixtures.js'
import { bertVocabulary } from './vocabularies.js'

interface TokenizerCase {
  readonly text: string
  readonly max_length: number
  readonly ids: readonly number[]
  readonly tokens: readonly string[]
  readonly decoded: string
}
interface Golden {
  readonly tokenizer_cases: readonly TokenizerCase[]
  readonly sentences: readonly {
    readonly text: string
    readonly max_seq_length: number
    readonly token_ids: number[]
  }[]
}
const golden = JSON.parse(new TextDecoder().decode(fixtureBytes('embd', 'embeddings.json'))) as Golden

describe.skipIf(!bertVocabulary)('with the vocabulary of uncased BERT', () => {
  const reference = bertVocabulary && createTokenizer(bertVocabulary, { profile: 'reference' })
  const bert = bertVocabulary && createTokenizer(bertVocabulary)
  const piecesOf = (text: string): string[] =>
    bert!
      .encode(text)
      .ids.slice(1, -1)
      .map((id) => bert!.token(id)!)

  it.each(golden.tokenizer_cases)('reference: $text', ({ text, max_length: maxLength, ids, tokens, decoded }) => {
    const encoding = reference!.encode(text, { maxLength })
    expect(encoding.ids).toEqual(ids)
    expect(encoding.ids.slice(0, encoding.count).map((id) => reference!.token(id))).toEqual(tokens)
    expect(reference!.decode(ids)).toBe(decoded)
  })

  it.each(golden.sentences)('reference: $text', ({ text, max_seq_length: maxLength, token_ids: ids }) => {
    expect(reference!.encode(text, { maxLength }).ids).toEqual(ids)
  })

  it.each<[string, string]>([
    ['hello world', 'hello world'],
    ["Don't stop, ME!", "don ' t stop , me !"],
    ['Café naïve RÉSUMÉ', 'cafe naive resume'],
    ['東京tower', '東 京 tower'],
    ['unaffable', 'una ##ffa ##ble'],
    ['e=mc^2 $5', 'e = mc ^ 2 $ 5'],
    ['[CLS]', '[ cl ##s ]'],
    ['a\u0000b\u200bc\u00a0d', 'abc d'],
    ['русский ΑΒΓ', 'р ##у ##с ##с ##к ##ии α ##β ##γ'],
  ])('bert: %s', (text, wanted) => {
    expect(piecesOf(text).join(' ')).toBe(wanted)
  })

  it('bert: the ids of a well-known sentence', () => {
    expect(bert!.encode('The quick brown fox jumps over the lazy dog.').ids).toEqual([
      101, 1996, 4248, 2829, 4419, 14523, 2058, 1996, 13971, 3899, 1012, 102,
    ])
  })
})
