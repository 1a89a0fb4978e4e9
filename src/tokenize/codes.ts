import { defineCodes, error } from '../errors/index.js'

/** The codes that tokenizers report. */
export const tokenizeCodes = defineCodes('tokenize', {
  'no-vocabulary': error('The model has no vocabulary, and none was given. Name a vocabulary file.'),
  'special-missing': error('The vocabulary lacks a token that every encoded text needs, such as [CLS].'),
  'not-an-id': error('Something that should be decoded is not the id of a token.'),
  'tokenizer-file': error(
    'The tokenizer cannot be used: it is broken, or of an unknown kind, or it could run forever.',
  ),
  'vocabulary-file': error('The vocabulary file cannot be used.'),
})
