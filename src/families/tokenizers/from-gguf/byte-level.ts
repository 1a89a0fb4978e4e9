// Byte-level BPE. GGUF has the name of the rules by which text is split into words, tokenizer.json the rules.
import type { Config } from '../../family.js'
import { type GgufTokens, isPlaceholder, refuseUnknown } from './gguf-tokens.js'
import { addedTokens, templateOf } from './pieces.js'
import { normalizerOf, preTokenizerOf, splitNames, splitRulesOf } from './splits.js'

export function byteLevelBpe(tokens: GgufTokens): Config {
  const rules = splitRulesOf(tokens.pre) ?? refuseUnknown(tokens, 'pre', tokens.pre, splitNames)
  const vocab = tokens.tokens.flatMap((token, id): [string, number][] =>
    isPlaceholder(token, id, tokens.types[id]!) ? [] : [[token, id]],
  )
  return {
    added_tokens: addedTokens(tokens),
    normalizer: normalizerOf(rules),
    pre_tokenizer: preTokenizerOf(rules),
    post_processor: templateOf(tokens, { bos: rules.addsBos, eos: false }) ?? null,
    decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: rules.ignoresMerges,
      vocab: Object.fromEntries(vocab),
      merges: tokens.merges,
    },
  }
}
