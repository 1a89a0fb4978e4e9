// WordPiece: a word is split from the left into the longest pieces in the vocabulary. Pieces after the first are listed with the prefix
// `##`.
import { decodeUtf8, encodeUtf8 } from '../bytes/index.js'
import type { Vocabulary } from '../content/vocabulary.js'

const continuation = '##'

export interface PieceTable {
  /** Ids by key. Of equal tokens the last one counts, as in all readers of vocabulary files. */
  readonly ids: ReadonlyMap<string, number>
  /** The length of the longest key; it bounds the number of lookups for a very long word. */
  readonly longest: number
}

/** With `textOnly`, tokens that are not UTF-8 match nothing: they could end in the middle of a character. */
export function pieceTable({ tokens }: Vocabulary, textOnly: boolean): PieceTable {
  const ids = new Map<string, number>()
  let longest = 0
  for (const [id, token] of tokens.entries()) {
    if (textOnly && decodeUtf8(token) === undefined) continue
    ids.set(keyOfBytes(token), id)
    longest = Math.max(longest, token.byteLength)
  }
  return { ids, longest }
}

/**
 * Appends the ids of the pieces of a word to `into`. Returns false if no piece fits at some position; the pieces before it have been
 * appended by then.
 */
export function cutWord({ ids, longest }: PieceTable, word: string, into: number[]): boolean {
  let start = 0
  while (start < word.length) {
    const prefix = start === 0 ? '' : continuation
    let end = Math.min(word.length, start + longest - prefix.length)
    let id: number | undefined
    while (end > start) {
      id = ids.get(prefix + word.slice(start, end))
      if (id !== undefined) break
      end--
    }
    if (id === undefined) return false
    into.push(id)
    start = end
  }
  return true
}

/** Joins pieces: `##` attaches a piece to the one before it, all others are separated by a space. */
export function joinPieces(keys: Iterable<string>): string {
  let joined = ''
  for (const key of keys) {
    if (key.startsWith(continuation)) joined += key.slice(continuation.length)
    else joined += joined === '' ? key : ` ${key}`
  }
  return joined
}

// Tokens are bytes, and JavaScript's maps want strings. A key is a string with one character per byte, so that its length, slices and order
// are those of the bytes, whether they are UTF-8 or not.

const maxArguments = 8192 // engines limit the number of arguments of a call

export function keyOfBytes(bytes: Uint8Array): string {
  if (bytes.byteLength <= maxArguments) return String.fromCharCode(...bytes)
  let key = ''
  for (let at = 0; at < bytes.byteLength; at += maxArguments)
    key += String.fromCharCode(...bytes.subarray(at, at + maxArguments))
  return key
}

const isAscii = /^[\x00-\x7f]*$/

export const keyOfText = (text: string): string => (isAscii.test(text) ? text : keyOfBytes(encodeUtf8(text)))

export function bytesOfKey(key: string): Uint8Array {
  const bytes = new Uint8Array(key.length)
  for (let i = 0; i < key.length; i++) bytes[i] = key.charCodeAt(i)
  return bytes
}
