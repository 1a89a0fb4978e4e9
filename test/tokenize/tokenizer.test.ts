import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tableOf, type Vocabulary, vocabularyPart } from '../../src/content/vocabulary.js'
import { MemorySource, type Model, TareError } from '../../src/kit.js'
import { createTokenizer, findVocabulary, type TokenizerOptions, vocabularyFromText } from '../../src/tokenize/index.js'
import { vocabularyOfTokens } from './vocabularies.js'

const [pad, unk, cls, sep] = [0, 1, 2, 3]
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const vocabulary = vocabularyOfTokens(
  'the',
  'fox',
  '##es',
  'run',
  '##ning',
  'a',
  '.',
  '##.',
  'é',
  'e',
  '東',
  '##e',
  'A',
)
const piecesOf = (text: string, options?: TokenizerOptions): string[] => {
  const tokenizer = createTokenizer(vocabulary, options)
  const { ids, count } = tokenizer.encode(text)
  return ids.slice(1, count - 1).map((id) => tokenizer.token(id)!)
}

describe('bert', () => {
  it.each<[string, string[]]>([
    ['The foxes RUNNING.', ['the', 'fox', '##es', 'run', '##ning', '.']],
    ['É', ['e']],
    ['a東a', ['a', '東', 'a']],
    ['the\u00a0fox\u3000a\u2028a', ['the', 'fox', 'a', 'a']],
    ['f\u200box\u0000', ['fox']],
    ['foxy', ['[UNK]']],
    ['\ud800fox', ['fox']],
    ['', []],
  ])('%j', (text, wanted) => expect(piecesOf(text)).toEqual(wanted))

  it('takes words of more than 100 characters as unknown, counted as characters', () => {
    const letters = vocabularyOfTokens('a', '##a', '𝒳', '##𝒳')
    const tokenizer = createTokenizer(letters)
    expect(tokenizer.encode('a'.repeat(100)).count).toBe(102)
    expect(tokenizer.encode('a'.repeat(101)).ids).toEqual([cls, unk, sep])
    expect(tokenizer.encode('𝒳'.repeat(100)).count).toBe(102)
    expect(tokenizer.encode('𝒳'.repeat(101)).ids).toEqual([cls, unk, sep])
  })

  it('keeps capital letters and accents for cased models', () => {
    expect(piecesOf('A é', { lowercase: false })).toEqual(['A', 'é'])
    expect(piecesOf('A é')).toEqual(['a', 'e'])
  })

  it('never matches a token that is not UTF-8', () => {
    const tokens = [...['[PAD]', '[UNK]', '[CLS]', '[SEP]'].map(utf8), Uint8Array.of(0xc3), utf8('##x')]
    const odd: Vocabulary = { tokens, special: {} }
    expect(createTokenizer(odd).encode('é').ids).toEqual([2, 1, 3])
    expect(createTokenizer(odd, { profile: 'reference', maxLength: 4 }).encode('é').ids).toEqual([2, 4, 1, 3])
  })
})

describe('reference', () => {
  const options = { profile: 'reference' } as const
  it.each<[string, string[]]>([
    ['The\t\v\f\r\n foxes', ['the', 'fox', '##es']],
    ['fox.', ['fox', '##.']],
    ['É', ['[UNK]']],
    ['é', ['é']],
    ['foxy', ['fox', '[UNK]']],
    ['the\u00a0fox', ['the', '[UNK]']],
  ])('%j', (text, wanted) => expect(piecesOf(text, options)).toEqual(wanted))

  it('fills up to 256, or to the length that is asked for', () => {
    const tokenizer = createTokenizer(vocabulary, options)
    expect(tokenizer.encode('fox').ids).toHaveLength(256)
    expect(tokenizer.encode('fox', { maxLength: 5 }).ids).toEqual([cls, 6, sep, pad, pad])
    expect(tokenizer.encode('fox', { pad: false }).ids).toEqual([cls, 6, sep])
  })
})

describe('lengths', () => {
  it.each([0, 1, 2])('of %i leave the two marks', (maxLength) => {
    expect(createTokenizer(vocabulary, { maxLength }).encode('a fox')).toEqual({ ids: [cls, sep], count: 2, cut: 2 })
  })

  it('cut the end and say how much', () => {
    const { ids, cut } = createTokenizer(vocabulary, { maxLength: 3 }).encode('the foxes run')
    expect([ids, cut]).toEqual([[cls, 5, sep], 3])
  })
})

describe('decode', () => {
  it('glues pieces, and skips marks, padding and ids that nobody has', () => {
    const tokenizer = createTokenizer(vocabulary)
    expect(tokenizer.decode([cls, 5, 6, 7, unk, 99, -1, 10, sep, pad])).toBe('the foxes [UNK] a')
    expect(tokenizer.decode([7])).toBe('es')
  })

  it('gives words of the vocabulary back', () => {
    const words = fc.array(fc.constantFrom('the', 'fox', 'foxes', 'run', 'running', 'a', '東', 'e'), { maxLength: 20 })
    fc.assert(
      fc.property(words, fc.constantFrom('bert', 'reference'), (list, profile) => {
        const tokenizer = createTokenizer(vocabulary, { profile: profile as 'bert', maxLength: 100 })
        expect(tokenizer.decode(tokenizer.encode(list.join(' ')).ids)).toBe(list.join(' '))
      }),
    )
  })

  it('of any text never fails, and its ids are in the vocabulary', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('bert', 'reference'), (text, profile) => {
        const tokenizer = createTokenizer(vocabulary, { profile: profile as 'bert', maxLength: 16 })
        const { ids, count } = tokenizer.encode(text)
        expect(ids[0]).toBe(cls)
        expect(ids[count - 1]).toBe(sep)
        expect(ids.every((id) => id >= 0 && id < vocabulary.tokens.length)).toBe(true)
        expect(typeof tokenizer.decode(ids)).toBe('string')
      }),
    )
  })
})

describe('vocabularies', () => {
  it('of equal tokens use the last', () => {
    const twice = vocabularyOfTokens('fox', 'a', 'fox')
    expect(createTokenizer(twice).encode('fox').ids).toEqual([cls, 7, sep])
    expect(createTokenizer(twice).decode([5, 7])).toBe('fox fox')
  })

  it('without a mark are refused', () => {
    const bare = vocabularyFromText(utf8('[PAD]\n[UNK]\n[CLS]\nfox\n'), 'v').vocabulary
    expect(() => createTokenizer(bare)).toThrow(expect.objectContaining({ code: 'tokenize/special-missing' }))
    expect(() => createTokenizer({ ...bare, special: { ...bare.special, sep: 3 } })).not.toThrow()
  })

  it('without [PAD] cannot fill up', () => {
    const bare = vocabularyFromText(utf8('[UNK]\n[CLS]\n[SEP]\nfox\n'), 'v').vocabulary
    expect(createTokenizer(bare).encode('fox').ids).toEqual([1, 3, 2])
    const filling = createTokenizer(bare, { profile: 'reference', maxLength: 8 })
    expect(() => filling.encode('fox')).toThrow(TareError)
  })

  it('long words take no longer than their length', () => {
    const tokenizer = createTokenizer(vocabularyOfTokens('a', '##a'))
    const reference = createTokenizer(tokenizer.vocabulary, { profile: 'reference', maxLength: 8 })
    const started = performance.now()
    expect(reference.encode('a'.repeat(200_000)).cut).toBe(200_000 - 6)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

describe('findVocabulary', () => {
  const modelWith = (name: string, parts: Model['parts'], beside: Record<string, string>): Model => {
    const siblings = new Map(Object.entries(beside).map(([each, text]) => [each, utf8(text)]))
    const files = [new MemorySource(new Uint8Array(1), name, siblings)]
    return { format: 'test', metadata: new Map(), tensors: [], parts, files }
  }
  const text = '[PAD]\n[UNK]\n[CLS]\n[SEP]\nfox\n'

  it('takes what the container carries', async () => {
    const part = vocabularyPart(tableOf([utf8('x')]))
    const found = await findVocabulary(modelWith('m.weights', [part], { 'vocab.txt': text }))
    expect([found.file, found.vocabulary.tokens.length]).toEqual([undefined, 1])
  })

  it.each(['vocab.txt', 'm.vocab'])('else %s beside it', async (name) => {
    const empty = vocabularyPart(tableOf([]))
    const found = await findVocabulary(modelWith('dir/m.weights', [empty], { [name]: text }))
    expect([found.file, found.vocabulary.special.sep]).toEqual([name, 3])
  })

  it('else fails', async () => {
    const lost = { code: 'tokenize/no-vocabulary' }
    await expect(findVocabulary(modelWith('m.weights', [], { 'vocab.txt': '' }))).rejects.toMatchObject(lost)
    await expect(findVocabulary({ ...modelWith('m', [], {}), files: [] })).rejects.toMatchObject(lost)
    expect(() => vocabularyFromText(new Uint8Array(), 'v')).toThrow(TareError)
  })
})
