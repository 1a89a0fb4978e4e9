// The tokenizer of a GGUF file in the words of tokenizer.json: the way back from what the conversion into GGUF writes.
import type { Metadata } from '../../../model/index.js'
import type { Config } from '../../family.js'
import { byteLevelBpe } from './byte-level.js'
import { type GgufTokens, readGgufTokens, refuseGguf, refuseUnknown } from './gguf-tokens.js'
import { mergedPieces, scoredPieces } from './sentence-piece.js'
import { wordPiece } from './word-piece.js'

const kinds: Readonly<Record<string, (tokens: GgufTokens) => Config>> = {
  gpt2: byteLevelBpe,
  llama: mergedPieces,
  t5: scoredPieces,
  bert: wordPiece,
}

/** What tokenizer.json would say; undefined where the file has no tokens. Fails where the tokenizer is of an unknown kind, or broken. */
export function tokenizerJsonOf(metadata: Metadata, file: string): Config | undefined {
  const tokens = readGgufTokens(metadata, file)
  if (!tokens) return undefined
  if (tokens.tokens.length === 0) refuseGguf(file, 'tokenizer.ggml.tokens', 'the list is empty')
  const make = Object.hasOwn(kinds, tokens.model) ? kinds[tokens.model] : undefined
  if (!make) return refuseUnknown(tokens, 'model', tokens.model, Object.keys(kinds))
  return { version: '1.0', truncation: null, padding: null, ...make(tokens) }
}
