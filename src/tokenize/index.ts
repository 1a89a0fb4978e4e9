// Tokenizers from what containers and directories carry. This is a separate entry: it needs no model.
export type { SpecialIds, SpecialName, Vocabulary } from '../content/vocabulary.js'
export { vocabularyOf } from '../content/vocabulary.js'
export { tokenizeCodes } from './codes.js'
export { type FoundVocabulary, findVocabulary, vocabularyFromText } from './find-vocabulary.js'
export {
  createTextTokenizer,
  findTextTokenizer,
  parseIds,
  parseTokenizerFile,
  type TextDecodeOptions,
  type TextEncodeOptions,
  type TextTokenizer,
  type TextTokenizerSource,
} from './text-tokenizer.js'
export {
  createTokenizer,
  type EncodeOptions,
  type Encoding,
  type Tokenizer,
  type TokenizerOptions,
  type TokenizerProfile,
} from './tokenizer.js'
