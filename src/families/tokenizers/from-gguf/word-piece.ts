// WordPiece: GGUF marks the beginning of a word, tokenizer.json the pieces that continue one.
import { tokenType } from '../token-types.js'
import { type GgufTokens, vocabularyOf } from './gguf-tokens.js'
import type { Rules } from './rules.js'

const wordStart = '\u2581'
const continuation = '##'

export function wordPiece(tokens: GgufTokens): Rules {
  const textOf = (id: number): string => {
    const [token, type] = [tokens.tokens[id]!, tokens.types[id]!]
    if (type === tokenType.control || type === tokenType.unknown) return token
    return token.startsWith(wordStart) ? token.slice(wordStart.length) : continuation + token
  }
  return {
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: tokens.flag('normalizer.strip_accents') ?? null,
      lowercase: tokens.flag('normalizer.lowercase') ?? true,
    },
    preTokenizer: { type: 'BertPreTokenizer' },
    decoder: { type: 'WordPiece', prefix: continuation, cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: tokens.special('unknown') ?? '[UNK]',
      continuing_subword_prefix: continuation,
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabularyOf(tokens, textOf)),
    },
    ends: { bos: true, eos: true },
  }
}
