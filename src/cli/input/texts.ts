// What the verbs for texts share: where the texts come from, and which vocabulary splits them.
import { findVocabulary, type Model, type Vocabulary, vocabularyFromText } from '../../kit-node.js'
import { escapeName, escapeText } from '../console/escape.js'
import { shorten } from '../console/width.js'
import type { Context } from '../context.js'
import { UsageError } from '../status.js'
import { checkStdin } from './run-inputs.js'
import { readSideFile } from './side-file.js'

/** The texts on the command line, then the lines of the file. */
export async function readTexts(model: string, words: readonly string[], file: string | undefined): Promise<string[]> {
  checkStdin([model, file])
  const texts = [...words, ...(file === undefined ? [] : linesOf((await readSideFile(file)).toString()))]
  if (texts.length === 0) throw new UsageError('give texts, or a file of texts with --file')
  return texts
}

/** Every line is a text, an empty one too; no text follows the line feed at the end of the file. */
function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

const maxVocabularyBytes = 1 << 27

/** The vocabulary of the given file, or the model's own. Whatever is odd about it is remarked on. */
export async function chooseVocabulary(
  { console, json }: Context,
  model: Model,
  path: string | undefined,
): Promise<Vocabulary> {
  const found =
    path === undefined
      ? await findVocabulary(model)
      : vocabularyFromText(await readSideFile(path, maxVocabularyBytes), path)
  if (!json) {
    if (path === undefined && found.file !== undefined)
      console.remark(`the vocabulary is taken from ${escapeName(found.file)}, beside the model`)
    for (const warning of found.warnings) console.remark(`${escapeName(found.file ?? '')}: ${warning}`)
  }
  return found.vocabulary
}

/** A text as a heading: on one line, and no longer than half of it. */
export const titleOf = (text: string, width: number): string => shorten(escapeText(text), Math.max(16, width / 2))
