// Finds a model's vocabulary: in the container, or in a text file beside it.
import { fileNameOf } from '../bytes/index.js'
import { findFile } from '../content/companions.js'
import { type Vocabulary, vocabularyOf } from '../content/vocabulary.js'
import { parseVocabularyText } from '../content/vocabulary-text.js'
import { failWith, TareError } from '../errors/index.js'
import { type Model, readPayload } from '../model/index.js'
import { tokenizeCodes } from './codes.js'

/** A vocabulary and where it was found. */
export interface FoundVocabulary {
  readonly vocabulary: Vocabulary
  /** The file it was found in, unless that is the container itself. */
  readonly file?: string
  readonly warnings: readonly string[]
}

/** No vocabulary file is larger; a model file named by mistake must not be read into memory. */
const maxFileBytes = 1 << 27

/** The container's vocabulary, or else the one in `vocab.txt` or `NAME.vocab` beside it. */
export async function findVocabulary(model: Model): Promise<FoundVocabulary> {
  const carried = vocabularyOf(model.parts)
  if (carried && (carried.table?.count ?? carried.tokens.length) > 0) return { vocabulary: carried, warnings: [] }
  const [main] = model.files
  for (const name of vocabularyNames(main?.name ?? '')) {
    const bytes = await readSibling(model, name, maxFileBytes)
    if (bytes && bytes.byteLength > 0) return vocabularyFromText(bytes, name)
  }
  const message = 'the model brings no vocabulary, and there is no vocab.txt beside it'
  return failWith(tokenizeCodes['no-vocabulary'], { file: main?.name ?? 'model', message })
}

/** The vocabulary in a text file, one token per line. */
export function vocabularyFromText(bytes: Uint8Array, file: string): FoundVocabulary {
  if (bytes.byteLength === 0) failWith(tokenizeCodes['vocabulary-file'], { file, message: 'the file is empty' })
  const { part, warnings } = parseVocabularyText(bytes)
  return { vocabulary: part.content as Vocabulary, file, warnings }
}

function vocabularyNames(file: string): string[] {
  const base = fileNameOf(file)
  return ['vocab.txt', `${base.replace(/(?<=.)\.[^.]*$/, '')}.vocab`]
}

/** A small file that is part of the model or lies beside it; undefined if there is none or it cannot be read. */
export async function readSibling(model: Model, name: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    const carried = findFile(model.parts, name)?.data
    if (carried) return carried.byteLength <= maxBytes ? await readPayload(carried) : undefined
    const source = await model.files[0]?.sibling?.(name)
    return source && source.size <= maxBytes ? await source.read(0, source.size) : undefined
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}
