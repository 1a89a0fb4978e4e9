// Where a model's vocabulary is: in the container, or in a text file beside it.

import { type Vocabulary, vocabularyOf } from '../content/vocabulary.js'
import { parseVocabularyText } from '../content/vocabulary-text.js'
import { failWith } from '../errors/index.js'
import type { Model } from '../model/index.js'
import { tokenizeCodes } from './codes.js'
import { readSibling } from './read-sibling.js'

export interface FoundVocabulary {
  readonly vocabulary: Vocabulary
  /** The file that it was found in, when it is not the container itself. */
  readonly file?: string
  readonly warnings: readonly string[]
}

/** No vocabulary file is larger; a model file that was named by mistake is not read into memory. */
const largestFile = 1 << 27

/** The vocabulary that the container carries, or else the one in `vocab.txt` or `NAME.vocab` beside it. */
export async function findVocabulary(model: Model): Promise<FoundVocabulary> {
  const carried = vocabularyOf(model.parts)
  if (carried && (carried.table?.count ?? carried.tokens.length) > 0) return { vocabulary: carried, warnings: [] }
  const [main] = model.files
  for (const name of vocabularyNames(main?.name ?? '')) {
    const bytes = await readSibling(model, name, largestFile)
    if (bytes && bytes.byteLength > 0) return vocabularyFromText(bytes, name)
  }
  const message = 'the model brings no vocabulary, and there is no vocab.txt beside it'
  return failWith(tokenizeCodes['no-vocabulary'], { file: main?.name ?? 'model', message })
}

/** The vocabulary that a text file holds, one token per line. */
export function vocabularyFromText(bytes: Uint8Array, file: string): FoundVocabulary {
  if (bytes.byteLength === 0) failWith(tokenizeCodes['vocabulary-file'], { file, message: 'the file is empty' })
  const { part, warnings } = parseVocabularyText(bytes)
  return { vocabulary: part.content as Vocabulary, file, warnings }
}

function vocabularyNames(file: string): string[] {
  const base = file.split(/[/\\]/).at(-1)!
  return ['vocab.txt', `${base.replace(/(?<=.)\.[^.]*$/, '')}.vocab`]
}
