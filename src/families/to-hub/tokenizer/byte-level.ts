// Byte-level BPE and WordPiece as tokenizer.json.
import { callerWord, failWith } from '../../../errors/index.js'
import { familyCodes } from '../../codes.js'
import type { Config } from '../../family.js'
import { tokenizerConfigFile, tokenizerFile } from '../../tokenizers/files.js'
import { normalizerOf, preTokenizerOf, splitNames, splitRulesOf } from '../../tokenizers/from-gguf/splits.js'
import { tokenType } from '../../tokenizers/token-types.js'
import { listAt, plainValue, textAt } from '../entries.js'
import {
  addedToken,
  isAdded,
  isPlaceholder,
  type PublishedTokenizer,
  type TokenizerSource,
  vocabularyOf,
} from './source.js'
import { specialsOf } from './specials.js'

const byteLevel = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }

export function publishBpe(source: TokenizerSource): PublishedTokenizer {
  const { metadata, tokens, file, choice } = source
  const name = textAt(metadata, 'tokenizer.ggml.pre') ?? 'default'
  const rules = splitRulesOf(name)
  if (!rules) {
    const message = `how ${JSON.stringify(name)} splits text is not known; known are ${splitNames.join(', ')}. ${callerWord('--as-is', 'asIs: true')} copies everything as it is`
    return failWith(familyCodes['pre-tokenizer'], { file, path: 'tokenizer.ggml.pre', message })
  }
  const { config, settings, postProcessor } = specialsOf(source, (id) => isAdded(source, id))
  const ids = [...tokens.keys()].filter((id) => !isPlaceholder(source, id) && !isAdded(source, id))
  const plain = { ...byteLevel, trim_offsets: false }
  const model = {
    type: 'BPE',
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: rules.ignoresMerges,
    vocab: vocabularyOf(ids, (id) => tokens[id]!, file),
    merges: listAt(metadata, 'tokenizer.ggml.merges', 'string', file) ?? [],
  }
  const processor = postProcessor ? { type: 'Sequence', processors: [plain, postProcessor] } : plain
  const spacePrefix = plainValue(metadata.get('tokenizer.ggml.add_space_prefix'))
  return {
    files: new Map<string, Config>([
      [tokenizerFile, tokenizerJson(source, normalizerOf(rules), preTokenizerOf(rules), processor, byteLevel, model)],
      [
        tokenizerConfigFile,
        {
          ...(choice === 'llama' && spacePrefix !== undefined && { add_prefix_space: spacePrefix }),
          ...config,
          clean_up_tokenization_spaces: false,
          tokenizer_class: choice === 'phi-3' ? 'GPT2Tokenizer' : 'PreTrainedTokenizerFast',
        },
      ],
    ]),
    settings,
  }
}

/** GGUF marks the beginning of a word, WordPiece the pieces that continue one. */
export function publishWordPiece(source: TokenizerSource): PublishedTokenizer {
  const { metadata, tokens, types, file } = source
  const { config, settings, postProcessor } = specialsOf(source, (id) => types[id] === tokenType.control)
  const textOf = (id: number): string => {
    const token = tokens[id]!
    if (types[id] === tokenType.control) return token
    return token.startsWith('\u2581') ? token.slice(1) : `##${token}`
  }
  const ids = [...tokens.keys()].filter((id) => !isPlaceholder(source, id))
  const flag = (name: string): boolean | null => {
    const value = plainValue(metadata.get(`tokenizer.ggml.normalizer.${name}`))
    return typeof value === 'boolean' ? value : null
  }
  const lowercase = flag('lowercase')
  const normalizer = {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: flag('strip_accents'),
    lowercase,
  }
  const model = {
    type: 'WordPiece',
    unk_token: typeof config.unk_token === 'string' ? config.unk_token : '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: vocabularyOf(ids, textOf, file),
  }
  const decoder = { type: 'WordPiece', prefix: '##', cleanup: true }
  const splitter = { type: 'BertPreTokenizer' }
  return {
    files: new Map<string, Config>([
      [tokenizerFile, tokenizerJson(source, normalizer, splitter, postProcessor, decoder, model)],
      [
        tokenizerConfigFile,
        {
          ...config,
          ...(lowercase !== null && { do_lower_case: lowercase }),
          clean_up_tokenization_spaces: true,
          tokenizer_class: 'BertTokenizer',
        },
      ],
    ]),
    settings,
  }
}

function tokenizerJson(
  source: TokenizerSource,
  normalizer: Config | null,
  preTokenizer: Config,
  postProcessor: Config | null,
  decoder: Config,
  model: Config,
): Config {
  const added = [...source.tokens.entries()].flatMap(([id, token]) =>
    isAdded(source, id) ? [addedToken(id, token, source.types[id] === tokenType.control)] : [],
  )
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer,
    pre_tokenizer: preTokenizer,
    post_processor: postProcessor,
    decoder,
    model,
  }
}
