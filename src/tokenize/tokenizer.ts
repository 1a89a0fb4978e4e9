// The way from a text to the ids that an encoder takes, and back. There are two profiles, which give different ids for the same text:
// `bert` is the tokenizer that BERT models were trained with, `reference` the byte-wise one of the EMBD library.
import { decodeLossy } from '../bytes/index.js'
import { type SpecialName, specialTexts, type Vocabulary } from '../content/vocabulary.js'
import { failWith } from '../errors/index.js'
import { splitBert } from './basic-bert.js'
import { splitReference } from './basic-reference.js'
import { bytesOfKey, keyOfBytes, keyOfText } from './byte-keys.js'
import { tokenizeCodes } from './codes.js'
import { cutWord, joinPieces, pieceTable } from './word-piece.js'

export type TokenizerProfile = 'bert' | 'reference'

export interface TokenizerOptions {
  /** Default: `bert`. */
  readonly profile?: TokenizerProfile | undefined
  /** The most ids of an encoded text, [CLS] and [SEP] included. Default: 256 in the reference profile, no limit in the other. */
  readonly maxLength?: number | undefined
  /** For the bert profile: small letters and no accents, as uncased models want it. Default: true. */
  readonly lowercase?: boolean | undefined
}

export interface EncodeOptions {
  readonly maxLength?: number | undefined
  /** Whether to fill up with [PAD] to the length; default: in the reference profile only, which always does. */
  readonly pad?: boolean | undefined
}

export interface Encoding {
  /** With [CLS], [SEP] and the padding. */
  readonly ids: readonly number[]
  /** How many of the ids come before the padding. */
  readonly count: number
  /** How many ids had to be left out. */
  readonly cut: number
}

export interface Tokenizer {
  readonly profile: TokenizerProfile
  readonly vocabulary: Vocabulary
  readonly maxLength: number
  encode(text: string, options?: EncodeOptions): Encoding
  /** The text that ids stand for, without [CLS], [SEP] and [PAD]; ids that the vocabulary does not have are skipped. */
  decode(ids: Iterable<number>): string
  /** The text of one token, for showing. */
  token(id: number): string | undefined
}

const referenceMaxLength = 256
/** BERT takes words with more characters than this as unknown, and does not look for pieces. */
const longestWord = 100

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
    if (!cutWord(table, word, into)) into.push(unknown) // the pieces before the unknown place stay
  }

  function addBertWord(word: string, into: number[]): void {
    const before = into.length
    if (countCharacters(word) <= longestWord && cutWord(table, keyOfText(word), into)) return
    into.length = before
    into.push(unknown)
  }

  return {
    profile,
    vocabulary,
    maxLength,

    encode(text, { maxLength: most = maxLength, pad: fill = isReference } = {}) {
      const ids = [cls]
      for (const word of isReference ? splitReference(text) : splitBert(text, lowercase)) addWord(word, ids)
      const room = Math.max(most, 2) - 1 // even a length of 0 leaves the two marks
      const cut = Math.max(0, ids.length - room)
      ids.length -= cut
      ids.push(sep)
      const count = ids.length
      if (fill && count < most && most < Number.POSITIVE_INFINITY) {
        requireSpecial('pad', pad)
        while (ids.length < most) ids.push(pad)
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
  if (word.length <= longestWord) return word.length
  let count = 0
  for (const _ of word) count++
  return count
}
