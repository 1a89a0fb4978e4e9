// Byte-level BPE. GGUF has the name of the rules by which text is split into words, tokenizer.json the rules.
import { type GgufTokens, refuseUnknown, vocabularyOf } from './gguf-tokens.js'
import type { Rules } from './rules.js'
import { normalizerOf, preTokenizerOf, splitNames, splitRulesOf } from './splits.js'

const byteLevel = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }

export function byteLevelBpe(tokens: GgufTokens): Rules {
  const rules = splitRulesOf(tokens.pre) ?? refuseUnknown(tokens, 'pre', tokens.pre, splitNames)
  return {
    normalizer: normalizerOf(rules),
    preTokenizer: preTokenizerOf(rules),
    postProcessor: { ...byteLevel, trim_offsets: false },
    decoder: byteLevel,
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: rules.ignoresMerges,
      // With the added tokens: the library takes those that the vocabulary lacks to have the ids after its last one.
      vocab: Object.fromEntries(vocabularyOf(tokens)),
      merges: tokens.merges,
    },
    ends: { bos: rules.addsBos, eos: false },
  }
}
