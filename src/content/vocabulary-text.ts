// A vocabulary as text: one token per line, the line number is the id. Readers of such files differ: some skip empty lines, so that all
// later ids are off by one, and some trim white space at the end of a line. Tokens that other readers would see differently are reported.
import type { Part } from '../model/model.js'
import { findSpecialIds, TokenTable, type Vocabulary, vocabularyKind, vocabularyPart } from './vocabulary.js'

export interface VocabularyText {
  readonly bytes: Uint8Array
  readonly warnings: readonly string[]
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x09 || byte === carriageReturn

/** The tokens in order of their ids, each on its own line. */
export function exportVocabulary(part: Part): VocabularyText {
  if (part.kind !== vocabularyKind) throw new Error(`a part of kind ${part.kind} is not a vocabulary`)
  const { tokens } = part.content as Vocabulary
  const bytes = new Uint8Array(tokens.reduce((sum, token) => sum + token.byteLength + 1, 0))
  let at = 0
  for (const token of tokens) {
    bytes.set(token, at)
    at += token.byteLength
    bytes[at++] = lineFeed
  }
  const warnings = [
    describe(
      tokens,
      (token) => token.byteLength === 0,
      'empty; readers that skip empty lines give other ids to all that follow',
    ),
    describe(tokens, (token) => isBlank(token.at(-1)), 'ending in white space, which some readers cut off'),
    describe(
      tokens,
      (token) => token.includes(lineFeed),
      'with a line feed inside, which cannot be told from two tokens',
    ),
  ]
  return { bytes, warnings: warnings.filter((warning) => warning !== undefined) }
}

/** The part for a vocabulary file. An empty line is an empty token; the final line feed starts none. */
export function parseVocabularyText(bytes: Uint8Array): { readonly part: Part; readonly warnings: readonly string[] } {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  const first = hasMark ? 3 : 0
  let count = 0
  for (let i = first; i < bytes.byteLength; i++) if (bytes[i] === lineFeed) count++
  if (bytes.byteLength > first && bytes.at(-1) !== lineFeed) count++
  const starts = new Uint32Array(count)
  const ends = new Uint32Array(count)
  let at = first
  for (let id = 0; id < count; id++) {
    const found = bytes.indexOf(lineFeed, at)
    const end = found < 0 ? bytes.byteLength : found
    starts[id] = at
    ends[id] = end > at && bytes[end - 1] === carriageReturn ? end - 1 : end
    at = end + 1
  }
  const table = new TokenTable(bytes, starts, ends)
  const tokens = table.all()
  const warnings = [
    hasMark ? 'the file begins with a byte order mark, which was left out' : undefined,
    describe(
      tokens,
      (token) => token.byteLength === 0,
      'empty; readers that skip empty lines give other ids to all that follow',
    ),
    describe(tokens, (token) => isBlank(token.at(-1)), 'ending in white space, which some readers cut off'),
  ]
  const part = vocabularyPart(table, findSpecialIds(table))
  return { part, warnings: warnings.filter((warning) => warning !== undefined) }
}

function describe(
  tokens: readonly Uint8Array[],
  matches: (token: Uint8Array) => boolean,
  what: string,
): string | undefined {
  const first = tokens.findIndex(matches)
  if (first < 0) return undefined
  const count = tokens.reduce((sum, token) => sum + (matches(token) ? 1 : 0), 0)
  return `${count} ${count === 1 ? 'token' : 'tokens'} (the first has id ${first}) ${what}`
}
