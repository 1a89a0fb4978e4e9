// SentencePiece's BPE: pieces with scores, and ▁ for a space. The neighbours whose piece has the best score are joined first.
import type { Config } from '../../family.js'
import { tokenType } from '../token-types.js'
import { addedScore, unusedScore } from '../vocabulary.js'
import { type GgufTokens, isAdded, isPlaceholder } from './gguf-tokens.js'
import type { Rules } from './rules.js'

export const space = '\u2581'

/** The longest piece that is looked at. Those of published models have up to some dozen characters. */
const maxPiece = 512

export function mergedPieces(tokens: GgufTokens): Rules {
  const hasPrefix = tokens.flag('add_space_prefix') ?? true
  const spaces = replace(' ', space)
  const decoders: Config[] = [replace(space, ' '), { type: 'ByteFallback' }, { type: 'Fuse' }]
  if (hasPrefix) decoders.push({ type: 'Strip', content: ' ', start: 1, stop: 0 })
  const vocabulary = piecesOf(tokens)
  return {
    normalizer: hasPrefix ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: space }, spaces] } : spaces,
    preTokenizer: null,
    decoder: { type: 'Sequence', decoders },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: unknownToken(tokens) ?? null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab: Object.fromEntries(vocabulary),
      merges: mergesOf(tokens, vocabulary),
    },
    ends: { bos: true, eos: false },
  }
}

export const replace = (from: string, content: string): Config => ({
  type: 'Replace',
  pattern: { String: from },
  content,
})

export const unknownToken = ({ special, tokens, types }: GgufTokens): string | undefined =>
  special('unknown') ?? tokens[types.indexOf(tokenType.unknown)]

/** How many pieces there are, without the tokens that were added after all of them. */
export function countPieces(tokens: GgufTokens): number {
  const isOutside = (id: number): boolean => {
    const score = tokens.scores[id]
    return (isAdded(tokens, id) && score === addedScore) || (isPlaceholder(tokens, id) && score === unusedScore)
  }
  let count = tokens.tokens.length
  while (count > 0 && isOutside(count - 1)) count--
  return count
}

/** Added tokens behind the pieces get the next ids by themselves, unless pieces are missing. Of two with one text the last counts. */
function piecesOf(tokens: GgufTokens): ReadonlyMap<string, number> {
  const pieces = tokens.tokens.slice(0, countPieces(tokens))
  const vocabulary = new Map(pieces.map((piece, id) => [piece, id]))
  return vocabulary.size === pieces.length ? vocabulary : new Map(tokens.tokens.map((token, id) => [token, id]))
}

/**
 * Every way to put a piece together from two others, the pieces with the best scores first. Files that were made of tokenizer.json have no
 * scores; there, pieces are older the lower their id, except that spaces are joined after everything else.
 */
function mergesOf(
  { tokens, types, scores }: GgufTokens,
  vocabulary: ReadonlyMap<string, number>,
): readonly (string | readonly [string, string])[] {
  const isPart = (text: string): boolean => {
    const id = vocabulary.get(text)
    return id !== undefined && isText(types[id]!)
  }
  const isBlank = tokens.map((token) => blank.test(token))
  const ids = [...vocabulary.values()].filter((id) => isText(types[id]!))
  ids.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || Number(isBlank[a]) - Number(isBlank[b]) || a - b)
  const merges = ids.flatMap((id) => {
    const piece = tokens[id]!
    if (piece.length > maxPiece) return []
    const splits: [string, string][] = []
    for (let at = 1; at < piece.length; at++) {
      // Not between the halves of a character.
      if ((piece.charCodeAt(at) & 0xfc00) === 0xdc00) continue
      const [left, right] = [piece.slice(0, at), piece.slice(at)]
      if (isPart(left) && isPart(right)) splits.push([left, right])
    }
    return splits.sort(
      (a, b) => vocabulary.get(a[0])! - vocabulary.get(b[0])! || vocabulary.get(a[1])! - vocabulary.get(b[1])!,
    )
  })
  // As a text with a space between, which all versions of the library read, unless a piece has a space itself.
  return merges.some((pair) => pair.some((part) => part.includes(' '))) ? merges : merges.map((pair) => pair.join(' '))
}

const blank = /^\u2581+$/

/** Others are found in a text before it is split, or stand for bytes. */
const isText = (type: number): boolean => type === tokenType.normal || type === tokenType.userDefined
