import { defineCodes, error } from '../errors/index.js'

/** The codes that tokenizers report. */
export const tokenizeCodes = defineCodes('tokenize', {
  'no-vocabulary': error('The model has no vocabulary, and none was given. Name a vocabulary file.'),
  'special-missing': error('The vocabulary lacks a token that every encoded text needs, such as [CLS].'),
  'vocabulary-file': error('The vocabulary file cannot be used.'),
})
