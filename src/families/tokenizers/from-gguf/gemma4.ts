// Gemma 4: BPE over the characters of a whole text, with \u2581 for a space, and bytes for what has no piece.
import { type GgufTokens, vocabularyOf } from './gguf-tokens.js'
import type { Rules } from './rules.js'
import { replace, space, unknownToken } from './sentence-piece.js'

export const listedMerges = (tokens: GgufTokens): Rules => ({
  normalizer: replace(' ', space),
  preTokenizer: null,
  decoder: { type: 'Sequence', decoders: [replace(space, ' '), { type: 'ByteFallback' }, { type: 'Fuse' }] },
  model: {
    type: 'BPE',
    dropout: null,
    unk_token: unknownToken(tokens) ?? null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: true,
    byte_fallback: true,
    ignore_merges: false,
    vocab: Object.fromEntries(vocabularyOf(tokens)),
    merges: tokens.merges,
  },
  ends: { bos: true, eos: false },
})
