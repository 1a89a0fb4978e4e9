// The tokenizer of a GGUF file in the words of tokenizer.json: the way back from what the conversion into GGUF writes.
import { callerWord } from '../../../errors/index.js'
import type { Metadata } from '../../../model/index.js'
import type { Config } from '../../family.js'
import { tokenType } from '../token-types.js'
import { byteLevelBpe } from './byte-level.js'
import { listedMerges } from './gemma4.js'
import { addedToken, type GgufTokens, isAdded, readGgufTokens, refuseUnknown } from './gguf-tokens.js'
import type { Rules } from './rules.js'
import { mergedPieces } from './sentence-piece.js'
import { templateOf } from './template.js'
import { scoredPieces } from './unigram.js'
import { wordPiece } from './word-piece.js'

const kinds: Readonly<Record<string, (tokens: GgufTokens) => Rules>> = {
  gpt2: byteLevelBpe,
  llama: mergedPieces,
  gemma4: listedMerges,
  t5: scoredPieces,
  bert: wordPiece,
}

/** What tokenizer.json would say; undefined where the file has no tokens. Fails where the tokenizer is of an unknown kind, or broken. */
export function tokenizerJsonOf(metadata: Metadata, file: string): Config | undefined {
  const advice = `Another tokenizer can be given: ${callerWord('--vocab FILE', 'a tokenizer.json')}`
  const tokens = readGgufTokens(metadata, file, advice)
  return tokens && tokenizerJson(tokens, (id) => isSought(tokens, id))
}

/** llama.cpp looks for the unknown token in a text as well. */
const isSought = (tokens: GgufTokens, id: number): boolean =>
  (isAdded(tokens, id) || tokens.types[id] === tokenType.unknown) && tokens.tokens[id] !== ''

/** `isListed`: whether a token is found in a text before anything else is done to it. */
export function tokenizerJson(tokens: GgufTokens, isListed: (id: number) => boolean): Config {
  const make = Object.hasOwn(kinds, tokens.model) ? kinds[tokens.model] : undefined
  if (!make) return refuseUnknown(tokens, 'model', tokens.model, Object.keys(kinds))
  const { ends, normalizer, preTokenizer, postProcessor, decoder, model } = make(tokens)
  const template = templateOf(tokens, ends)
  const processors = [postProcessor, template].filter((each) => each !== undefined)
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: [...tokens.tokens.keys()].filter(isListed).map((id) => addedToken(tokens, id)),
    normalizer,
    pre_tokenizer: preTokenizer,
    post_processor: processors.length > 1 ? { type: 'Sequence', processors } : (processors[0] ?? null),
    decoder,
    model,
  }
}
