import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLossy, encodeUtf8 } from '../../src/bytes/index.js'
import { findSpecialIds, tableOf, type Vocabulary, vocabularyOf, vocabularyPart } from '../../src/content/vocabulary.js'
import { exportVocabulary, parseVocabularyText } from '../../src/content/vocabulary-text.js'

const tokensOf = (...texts: string[]): Uint8Array[] => texts.map(encodeUtf8)
const textsOf = ({ tokens }: Vocabulary): string[] => tokens.map(decodeLossy)

describe('a vocabulary part', () => {
  it('finds special ids by text, the first of each', () => {
    const table = tableOf(tokensOf('[PAD]', 'a', '[MASK]', '[SEP]', '[SEP]', '[pad]'))
    expect(findSpecialIds(table)).toEqual({ pad: 0, sep: 3, mask: 2 })
    expect(vocabularyPart(table).value).toEqual({ tokens: 6, special: { pad: 0, sep: 3, mask: 2 } })
  })

  it('takes ids that are given, and gives the tokens back', () => {
    const part = vocabularyPart(tableOf(tokensOf('x', '', 'ö')), { cls: 2 })
    const vocabulary = vocabularyOf([part])!
    expect(vocabulary.special).toEqual({ cls: 2 })
    expect(textsOf(vocabulary)).toEqual(['x', '', 'ö'])
    expect(vocabulary.tokens).toBe(vocabulary.tokens)
  })
})

describe('vocabulary text', () => {
  it('round-trips tokens without line breaks', () => {
    const token = fc.uint8Array({ maxLength: 12 }).filter((bytes) => !bytes.includes(10) && bytes.at(-1) !== 13)
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 20 }), (tokens) => {
        fc.pre(!(tokens[0]![0] === 0xef && tokens[0]![1] === 0xbb && tokens[0]![2] === 0xbf))
        const { bytes } = exportVocabulary(vocabularyPart(tableOf(tokens)))
        const again = parseVocabularyText(bytes).part.content as Vocabulary
        expect(again.tokens.map((each) => [...each])).toEqual(tokens.map((each) => [...each]))
      }),
      { seed: 6, numRuns: 200 },
    )
  })

  it('keeps empty lines as tokens, with and without a last line feed', () => {
    for (const text of ['a\n\nb\n', 'a\n\nb', 'a\r\n\r\nb\r\n']) {
      const { part, warnings } = parseVocabularyText(encodeUtf8(text))
      expect(textsOf(part.content as Vocabulary)).toEqual(['a', '', 'b'])
      expect(warnings).toEqual([expect.stringMatching(/^1 token \(the first has id 1\) empty/)])
    }
    expect(parseVocabularyText(new Uint8Array(0)).part.value).toMatchObject({ tokens: 0 })
  })

  it('leaves out a byte order mark, and says so', () => {
    const { part, warnings } = parseVocabularyText(encodeUtf8('\ufeff[PAD]\n[UNK]\n'))
    expect(part.value).toEqual({ tokens: 2, special: { pad: 0, unk: 1 } })
    expect(warnings[0]).toMatch(/byte order mark/)
  })

  it('warns of what other readers take differently', () => {
    const { warnings } = exportVocabulary(vocabularyPart(tableOf(tokensOf('ok', 'a\nb', '', '', 'x ', 'y\t'))))
    expect(warnings).toEqual([
      expect.stringMatching(/^2 tokens \(the first has id 2\) empty/),
      expect.stringMatching(/^2 tokens \(the first has id 4\) ending in white space/),
      expect.stringMatching(/^1 token \(the first has id 1\) with a line feed/),
    ])
    expect(exportVocabulary(vocabularyPart(tableOf(tokensOf('a', 'b')))).warnings).toEqual([])
  })

  it('refuses parts that are not a vocabulary', () => {
    expect(() => exportVocabulary({ kind: 'file', sharing: 'shared', value: null })).toThrow(/not a vocabulary/)
  })
})
