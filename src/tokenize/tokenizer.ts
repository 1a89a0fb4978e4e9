// Converts texts to the ids that an encoder takes, and back. The two profiles give different ids for the same text: `bert` is the tokenizer
// that BERT models were trained with, `reference` the byte-wise one of the EMBD library.
import { decodeLossy } from '../bytes/index.js'
import { type SpecialName, specialTexts, type Vocabulary } from '../content/vocabulary.js'
import { failWith } from '../errors/index.js'
import { tokenizeCodes } from './codes.js'
import { bytesOfKey, cutWord, joinPieces, keyOfBytes, keyOfText, pieceTable } from './word-piece.js'

/** Which program the tokenizer agrees with. */
export type TokenizerProfile = 'bert' | 'reference'

/** How texts are cut into tokens. */
export interface TokenizerOptions {
  /** Default: `bert`. */
  readonly profile?: TokenizerProfile | undefined
  /** The maximum number of ids, including [CLS] and [SEP]. Default: 256 in the reference profile, unlimited in the other. */
  readonly maxLength?: number | undefined
  /** For the bert profile: lower-case and strip accents, as uncased models expect. Default: true. */
  readonly lowercase?: boolean | undefined
}

/** How one text is encoded. */
export interface EncodeOptions {
  readonly maxLength?: number | undefined
  /** Whether to pad with [PAD] to the maximum length. Default: only in the reference profile, which always does. */
  readonly pad?: boolean | undefined
}

/** The ids of a text. */
export interface Encoding {
  /** Including [CLS], [SEP] and padding. */
  readonly ids: readonly number[]
  /** How many of the ids precede the padding. */
  readonly count: number
  /** How many ids were cut. */
  readonly cut: number
}

/** Turns texts into ids and back. */
export interface Tokenizer {
  readonly profile: TokenizerProfile
  readonly vocabulary: Vocabulary
  readonly maxLength: number
  /** The ids of the tokens of a text. */
  encode(text: string, options?: EncodeOptions): Encoding
  /** The text of the ids, without [CLS], [SEP] and [PAD]; unknown ids are skipped. */
  decode(ids: Iterable<number>): string
  /** The text of one token, for display. */
  token(id: number): string | undefined
}

const referenceMaxLength = 256
/** BERT treats longer words as unknown, without looking for pieces. */
const maxWordLength = 100

/** Makes a tokenizer of a vocabulary. */
export function createTokenizer(vocabulary: Vocabulary, options: TokenizerOptions = {}): Tokenizer {
  const { profile = 'bert', lowercase = true } = options
  const isReference = profile === 'reference'
  const maxLength = options.maxLength ?? (isReference ? referenceMaxLength : Number.POSITIVE_INFINITY)
  const table = pieceTable(vocabulary, !isReference)
  const id = (name: SpecialName): number => vocabulary.special[name] ?? table.ids.get(specialTexts[name]) ?? -1
  const [cls, sep, pad, unknown] = [id('cls'), id('sep'), id('pad'), id('unk')]
  for (const [name, found] of [
    ['cls', cls],
    ['sep', sep],
    ['unk', unknown],
  ] as const)
    requireSpecial(name, found)
  const addWord = isReference ? addReferenceWord : addBertWord

  function addReferenceWord(word: string, into: number[]): void {
    if (!cutWord(table, word, into)) into.push(unknown) // the pieces before the unknown position stay
  }

  function addBertWord(word: string, into: number[]): void {
    const before = into.length
    if (countCharacters(word) <= maxWordLength && cutWord(table, keyOfText(word), into)) return
    into.length = before
    into.push(unknown)
  }

  return {
    profile,
    vocabulary,
    maxLength,

    encode(text, { maxLength: max = maxLength, pad: fill = isReference } = {}) {
      const ids = [cls]
      for (const word of isReference ? splitReference(text) : splitBert(text, lowercase)) addWord(word, ids)
      const room = Math.max(max, 2) - 1 // even a length of 0 leaves room for the two marks
      const cut = Math.max(0, ids.length - room)
      ids.length -= cut
      ids.push(sep)
      const count = ids.length
      if (fill && count < max && max < Number.POSITIVE_INFINITY) {
        requireSpecial('pad', pad)
        while (ids.length < max) ids.push(pad)
      }
      return { ids, count, cut }
    },

    decode(ids) {
      const keys: string[] = []
      for (const each of ids) {
        const token = vocabulary.tokens[each]
        if (token !== undefined && each !== cls && each !== sep && each !== pad) keys.push(keyOfBytes(token))
      }
      return decodeLossy(bytesOfKey(joinPieces(keys)))
    },

    token(each) {
      const token = vocabulary.tokens[each]
      return token && decodeLossy(token)
    },
  }
}

function requireSpecial(name: SpecialName, id: number): void {
  if (id >= 0) return
  const message = `the vocabulary has no ${specialTexts[name]}, and nothing else says which token is meant`
  failWith(tokenizeCodes['special-missing'], { file: 'vocabulary', path: `special.${name}`, message })
}

function countCharacters(word: string): number {
  if (word.length <= maxWordLength) return word.length
  let count = 0
  for (const _ of word) count++
  return count
}

/** U+0000, U+FFFD and the categories control, format, surrogate and private use, except the three that count as white space. */
const removed = /(?![\t\n\r])[\0\ufffd\p{Cc}\p{Cf}\p{Cs}\p{Co}]/gu

/**
 * The blocks of CJK ideographs. Hangul, hiragana and katakana are not included: their languages separate words with spaces, or are split by
 * the vocabulary.
 */
const ideographs =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu

/** Unicode's punctuation, and the ASCII signs that Unicode calls symbols: $ + < = > ^ ` | ~ */
const punctuation = /[\p{P}$+<=>^`|~]/gu

const accents = /\p{Mn}+/gu
const space = /\p{White_Space}+/u

/**
 * The words of a text by BERT's rules: control characters are removed, every ideograph and punctuation mark is a word, and for uncased
 * models letters are lower-cased and lose their accents.
 */
function splitBert(text: string, lowercase: boolean): string[] {
  let plain = text.replace(removed, '').replace(ideographs, ' $& ')
  if (lowercase) plain = plain.toLowerCase().normalize('NFD').replace(accents, '')
  return plain
    .replace(punctuation, ' $& ')
    .split(space)
    .filter((word) => word !== '')
}

/**
 * The words of a text by the rules of the reference library, as keys. It works on bytes: ASCII white space separates words, A to Z are
 * lower-cased, and everything else is kept. It ignores Unicode, so U+00A0 is not a space, É stays É, and punctuation stays with its word.
 */
function splitReference(text: string): string[] {
  const lower = keyOfText(text).replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return lower.split(/[\t-\r ]+/).filter((word) => word !== '')
}
