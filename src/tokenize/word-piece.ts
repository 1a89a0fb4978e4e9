// WordPiece: a word is cut from the left into the longest pieces that the vocabulary has. Pieces after the first are listed with `##` in
// front.
import { decodeUtf8 } from '../bytes/index.js'
import type { Vocabulary } from '../content/vocabulary.js'
import { keyOfBytes } from './byte-keys.js'

const continuation = '##'

export interface PieceTable {
  /** Ids by key. Of equal tokens the last one counts, as in every reader of vocabulary files. */
  readonly ids: ReadonlyMap<string, number>
  /** The longest key, without which a word of a million letters would take a million million lookups. */
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
 * The ids of the pieces of a word, appended to `into`. False when some place has no piece that fits; the pieces before that place have
 * been appended by then.
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

/** Pieces put together again: `##` glues a piece to what is before it, all others get a space. */
export function joinPieces(keys: Iterable<string>): string {
  let joined = ''
  for (const key of keys) {
    if (key.startsWith(continuation)) joined += key.slice(continuation.length)
    else joined += joined === '' ? key : ` ${key}`
  }
  return joined
}
