// Unigram: the pieces of a text are those with the best sum of scores.
import { tokenType } from '../token-types.js'
import { type GgufTokens, prefix, refuseGguf } from './gguf-tokens.js'
import type { Rules } from './rules.js'
import { space, unknownToken } from './sentence-piece.js'

export function scoredPieces(tokens: GgufTokens): Rules {
  if (tokens.scores.length === 0)
    refuseGguf(tokens.file, `${prefix}scores`, 'this kind of tokenizer needs a score for each token')
  const hasPrefix = tokens.flag('add_space_prefix') ?? true
  const metaspace = {
    type: 'Metaspace',
    replacement: space,
    prepend_scheme: hasPrefix ? 'always' : 'never',
    split: true,
  }
  const unknown = tokens.tokens.indexOf(unknownToken(tokens) ?? '')
  const charsmap = charsmapIn(tokens)
  const isCompacted = tokens.flag('remove_extra_whitespaces') === true
  return {
    normalizer: charsmap === undefined ? null : { type: 'Precompiled', precompiled_charsmap: base64(charsmap) },
    preTokenizer: isCompacted
      ? { type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace] }
      : metaspace,
    decoder: metaspace,
    model: {
      type: 'Unigram',
      unk_id: unknown < 0 ? null : unknown,
      vocab: tokens.tokens.map((token, id) => [token, tokens.scores[id]]),
      byte_fallback: tokens.types.includes(tokenType.byte),
    },
    ends: { bos: false, eos: true },
  }
}

/** How characters are normalized: a table that SentencePiece compiled. */
export function charsmapIn({ metadata }: GgufTokens): Uint8Array | undefined {
  const value = metadata.get(`${prefix}precompiled_charsmap`)
  if (value?.type !== 'array') return undefined
  return Uint8Array.from(value.values(), (each) => ('value' in each ? Number(each.value) : 0))
}

function base64(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return btoa(text)
}
