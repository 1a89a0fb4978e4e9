// SentencePiece: pieces with scores, and ▁ for a space. The model "llama" joins the neighbours with the best score, as BPE does; "t5" looks
// for the pieces with the best sum.
import type { Config } from '../../family.js'
import { tokenType } from '../token-types.js'
import { type GgufTokens, isPlaceholder, refuseGguf } from './gguf-tokens.js'
import { addedTokens, templateOf } from './pieces.js'

const space = '\u2581'

/** The longest piece that is looked at. Those of published models have up to some dozen characters. */
const maxPiece = 512

export function mergedPieces(tokens: GgufTokens): Config {
  const vocab = new Map<string, number>()
  for (const [id, token] of tokens.tokens.entries())
    if (!isPlaceholder(token, id, tokens.types[id]!)) vocab.set(token, id)
  const hasPrefix = tokens.flag('add_space_prefix') ?? true
  return {
    added_tokens: addedTokens(tokens),
    normalizer: {
      type: 'Sequence',
      normalizers: [...(hasPrefix ? [{ type: 'Prepend', prepend: space }] : []), replace(' ', space)],
    },
    pre_tokenizer: null,
    post_processor: templateOf(tokens, { bos: true, eos: false }) ?? null,
    decoder: {
      type: 'Sequence',
      decoders: [
        replace(space, ' '),
        { type: 'ByteFallback' },
        { type: 'Fuse' },
        ...(hasPrefix ? [{ type: 'Strip', content: ' ', start: 1, stop: 0 }] : []),
      ],
    },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: unknownToken(tokens),
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: tokens.types.includes(tokenType.byte),
      ignore_merges: false,
      vocab: Object.fromEntries(vocab),
      merges: mergesOf(tokens, vocab),
    },
  }
}

const replace = (from: string, content: string): Config => ({ type: 'Replace', pattern: { String: from }, content })

const unknownToken = ({ special, tokens, types }: GgufTokens): string | null =>
  special('unknown') ?? tokens[types.indexOf(tokenType.unknown)] ?? null

/**
 * Every way to put a piece together from two others, the pieces with the best scores first. Files that were made of tokenizer.json have no
 * scores; there, pieces are older the lower their id, except that spaces are joined after everything else.
 */
function mergesOf({ tokens, types, scores }: GgufTokens, vocab: ReadonlyMap<string, number>): [string, string][] {
  const isPart = (text: string): boolean => {
    const id = vocab.get(text)
    return id !== undefined && isText(types[id]!)
  }
  const ids = tokens.map((_, id) => id).filter((id) => isText(types[id]!) && vocab.get(tokens[id]!) === id)
  const isBlank = tokens.map((token) => blank.test(token))
  ids.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || Number(isBlank[a]) - Number(isBlank[b]) || a - b)
  return ids.flatMap((id) => {
    const piece = tokens[id]!
    if (piece.length > maxPiece) return []
    const splits: [string, string][] = []
    for (let at = 1; at < piece.length; at++) {
      const [left, right] = [piece.slice(0, at), piece.slice(at)]
      if (isPart(left) && isPart(right)) splits.push([left, right])
    }
    return splits.sort((a, b) => vocab.get(a[0])! - vocab.get(b[0])! || vocab.get(a[1])! - vocab.get(b[1])!)
  })
}

const blank = /^\u2581+$/

/** Others are found in a text before it is split, or stand for bytes. */
const isText = (type: number): boolean => type === tokenType.normal || type === tokenType.userDefined

export function scoredPieces(tokens: GgufTokens): Config {
  if (tokens.scores.length === 0)
    refuseGguf(tokens.file, 'tokenizer.ggml.scores', 'this kind of tokenizer needs a score for each token')
  const hasPrefix = tokens.flag('add_space_prefix') ?? true
  const metaspace = {
    type: 'Metaspace',
    replacement: space,
    prepend_scheme: hasPrefix ? 'always' : 'never',
    split: true,
  }
  const unknown = tokens.tokens.indexOf(unknownToken(tokens) ?? '')
  const charsmap = charsmapOf(tokens)
  return {
    added_tokens: addedTokens(tokens),
    normalizer: charsmap === undefined ? null : { type: 'Precompiled', precompiled_charsmap: charsmap },
    pre_tokenizer:
      tokens.flag('remove_extra_whitespaces') === true
        ? { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace] }
        : metaspace,
    post_processor: templateOf(tokens, { bos: false, eos: true }) ?? null,
    decoder: metaspace,
    model: {
      type: 'Unigram',
      unk_id: unknown < 0 ? null : unknown,
      vocab: tokens.tokens.map((token, id) => [token, tokens.scores[id]]),
      byte_fallback: tokens.types.includes(tokenType.byte),
    },
  }
}

/** How characters are normalized: a table that SentencePiece compiled. */
function charsmapOf({ metadata }: GgufTokens): string | undefined {
  const value = metadata.get('tokenizer.ggml.precompiled_charsmap')
  if (value?.type !== 'array') return undefined
  const bytes = Uint8Array.from(value.values(), (each) => ('value' in each ? Number(each.value) : 0))
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
