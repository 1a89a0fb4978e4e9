// Unigram tokenizers as tokenizer.json: the rules that run them, with what the library looks for beside them.

import { tokenizerConfigFile, tokenizerFile } from '../../tokenizers/files.js'
import { readGgufTokens } from '../../tokenizers/from-gguf/gguf-tokens.js'
import { scoredPieces } from '../../tokenizers/from-gguf/sentence-piece.js'
import { tokenType } from '../../tokenizers/token-types.js'
import { plainValue } from '../entries.js'
import { addedToken, isAdded, type PublishedTokenizer, type TokenizerSource } from './source.js'
import { specialsOf } from './specials.js'

export function publishUnigram(source: TokenizerSource): PublishedTokenizer {
  const { metadata, tokens, types, file } = source
  const isListed = (id: number): boolean => isAdded(source, id) || types[id] === tokenType.unknown
  const { config, settings, postProcessor } = specialsOf(source, isListed)
  const rules = scoredPieces(readGgufTokens(metadata, file)!)
  const listed = [...tokens.keys()].filter(isListed)
  const flag = (name: string): unknown => plainValue(metadata.get(`tokenizer.ggml.${name}`))
  return {
    files: new Map([
      [
        tokenizerFile,
        {
          version: '1.0',
          truncation: null,
          padding: null,
          ...rules,
          added_tokens: listed.map((id) => addedToken(id, tokens[id]!, types[id] !== tokenType.userDefined)),
          ...(postProcessor && { post_processor: postProcessor }),
        },
      ],
      [
        tokenizerConfigFile,
        {
          ...config,
          add_prefix_space: flag('add_space_prefix') === true,
          clean_up_tokenization_spaces: flag('remove_extra_whitespaces') === true,
          tokenizer_class: source.choice === 't5' ? 'T5Tokenizer' : 'XLMRobertaTokenizer',
        },
      ],
    ]),
    settings,
  }
}
