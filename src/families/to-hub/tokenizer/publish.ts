// Which files a tokenizer becomes: tokenizer.json with the rules that run it, tokenizer_config.json, and for SentencePiece the pieces.
import { callerWord } from '../../../errors/index.js'
import type { Metadata } from '../../../model/index.js'
import type { Config, Family, TokenizerChoice } from '../../family.js'
import { tokenizerConfigFile, tokenizerFile } from '../../tokenizers/files.js'
import { type GgufTokens, isAdded, prefix, readGgufTokens, refuseGguf } from '../../tokenizers/from-gguf/gguf-tokens.js'
import { tokenizerJson } from '../../tokenizers/from-gguf/tokenizer-json.js'
import { tokenType } from '../../tokenizers/token-types.js'
import type { PublishedKind } from './kind.js'
import { addedEntries, sentencePiece, t5Files } from './sentence-piece.js'
import { specialsOf } from './specials.js'

/** The files of a tokenizer, and what config.json says about it. */
export interface PublishedTokenizer {
  readonly files: ReadonlyMap<string, Config | Uint8Array>
  readonly settings: Config
}

/** Undefined where the file has no tokenizer. */
export function publishTokenizer(
  metadata: Metadata,
  { tokenizer: choice }: Family,
  file: string,
): PublishedTokenizer | undefined {
  const tokens = readGgufTokens(metadata, file, `${callerWord('--as-is', 'asIs: true')} copies everything as it is`)
  if (!tokens) return undefined
  if (tokens.broken !== undefined)
    refuseGguf(
      file,
      `${prefix}tokens[${tokens.broken}]`,
      'it is not UTF-8, and files of a directory hold no other text',
    )
  const { isListed, config, files } = kindOf(tokens, choice)
  const specials = specialsOf(tokens, choice, isListed)
  return {
    files: new Map<string, Config | Uint8Array>([
      ...(files ?? []),
      [tokenizerFile, tokenizerJson(tokens, isListed)],
      [tokenizerConfigFile, config(specials.config)],
    ]),
    settings: specials.settings,
  }
}

function kindOf(tokens: GgufTokens, choice: TokenizerChoice): PublishedKind {
  const isListed = (id: number): boolean => isAdded(tokens, id)
  switch (tokens.model) {
    case 'llama':
      return sentencePiece(tokens, choice)
    case 'gemma4':
      return {
        isListed,
        // Every text begins with its token, whatever the files say.
        config: ({ add_bos_token: _, ...specials }) => ({
          ...specials,
          ...addedEntries(tokens, false, specials),
          clean_up_tokenization_spaces: false,
          tokenizer_class: 'GemmaTokenizer',
        }),
      }
    case 'bert': {
      const lowercase = tokens.flag('normalizer.lowercase')
      return {
        isListed,
        config: (specials) => ({
          ...specials,
          ...(lowercase !== undefined && { do_lower_case: lowercase }),
          clean_up_tokenization_spaces: true,
          tokenizer_class: 'BertTokenizer',
        }),
      }
    }
    case 't5':
      return {
        isListed: (id) => isListed(id) || tokens.types[id] === tokenType.unknown,
        config: (specials) => ({
          ...specials,
          add_prefix_space: tokens.flag('add_space_prefix') === true,
          clean_up_tokenization_spaces: tokens.flag('remove_extra_whitespaces') === true,
          tokenizer_class: choice === 't5' ? 'T5Tokenizer' : 'XLMRobertaTokenizer',
        }),
        files: choice === 't5' ? t5Files(tokens) : undefined,
      }
    default: {
      // Byte-level BPE: what has no rules is refused where they are looked for.
      const spacePrefix = choice === 'llama' ? tokens.flag('add_space_prefix') : undefined
      return {
        isListed,
        config: (specials) => ({
          ...(spacePrefix !== undefined && { add_prefix_space: spacePrefix }),
          ...specials,
          clean_up_tokenization_spaces: false,
          tokenizer_class: choice === 'phi-3' ? 'GPT2Tokenizer' : 'PreTrainedTokenizerFast',
        }),
      }
    }
  }
}
