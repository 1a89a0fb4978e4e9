import { existsSync, readFileSync } from 'node:fs'
import type { Vocabulary } from '../../src/content/vocabulary.js'
import { vocabularyFromText } from '../../src/tokenize/index.js'
import { fixturePath } from '../support/fixtures.js'

const path = fixturePath('embd', 'bert-uncased.vocab.txt')

/** The vocabulary of the uncased BERT models, where it is there. */
export const bertVocabulary: Vocabulary | undefined = existsSync(path)
  ? vocabularyFromText(new Uint8Array(readFileSync(path)), path).vocabulary
  : undefined

const specials = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]']

/** The five special tokens, then the given ones: the first of them has id 5. */
export const vocabularyOfTokens = (...tokens: readonly string[]): Vocabulary =>
  vocabularyFromText(new TextEncoder().encode([...specials, ...tokens, ''].join('\n')), 'test').vocabulary
