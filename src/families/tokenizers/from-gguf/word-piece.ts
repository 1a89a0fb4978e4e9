// WordPiece: GGUF marks the beginning of a word, tokenizer.json the pieces that continue one.
import type { Config } from '../../family.js'
import { tokenType } from '../token-types.js'
import { type GgufTokens, isPlaceholder } from './gguf-tokens.js'
import { addedTokens, templateOf } from './pieces.js'

const wordStart = '\u2581'
const continuation = '##'

export function wordPiece(tokens: GgufTokens): Config {
  const vocab = tokens.tokens.flatMap((token, id): [string, number][] => {
    const type = tokens.types[id]!
    if (isPlaceholder(token, id, type)) return []
    if (type === tokenType.control || type === tokenType.unknown) return [[token, id]]
    return [[token.startsWith(wordStart) ? token.slice(wordStart.length) : continuation + token, id]]
  })
  const lowercase = tokens.flag('normalizer.lowercase') ?? true
  return {
    added_tokens: addedTokens(tokens),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: tokens.flag('normalizer.strip_accents') ?? null,
      lowercase,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: templateOf(tokens, { bos: true, eos: true }) ?? null,
    decoder: { type: 'WordPiece', prefix: continuation, cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: tokens.special('unknown') ?? '[UNK]',
      continuing_subword_prefix: continuation,
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocab),
    },
  }
}
