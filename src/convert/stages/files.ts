// Which parts come along in a conversion, the files of a model above all, and in which form the target takes them.
import { isPlainFileName } from '../../bytes/index.js'
import { companionsBeside, fileKind, filePart, findFile } from '../../content/companions.js'
import { type Vocabulary, vocabularyKind } from '../../content/vocabulary.js'
import { exportVocabulary, parseVocabularyText } from '../../content/vocabulary-text.js'
import { failWith, usageCodes } from '../../errors/index.js'
import {
  bytesPayload,
  type Fit,
  type Model,
  type Part,
  readPayload,
  type WriteCapabilities,
} from '../../model/index.js'
import { type ActionLog, noter } from '../actions.js'
import type { ConvertOptions } from '../options.js'
import { type State, withActions } from './state.js'

const vocabularyFile = 'vocab.txt'
/** A larger vocabulary is carried as a file, but not looked into. */
const largestVocabulary = 1 << 27

/** The files that belong to the model come along, as far as they are wanted and have a place. */
export async function addFiles(state: State): Promise<State> {
  const { model, write, options } = state
  const actions: ActionLog = []
  const parts = wantedParts(model, options, actions)
  const done = (): State => withActions({ ...state, model: { ...model, parts } }, actions)
  if (options.files === false) return done()
  // What merely lies beside a single file is not lost when it stays there, so only what has a place is taken along.
  for (const part of await companionsBeside(model)) {
    if (options.without?.includes(part.name!) || findFile(model.parts, part.name!) || !write.part(part).fits) continue
    noter(actions, 'part', part.name!)('add', 'none', { reason: 'found beside the input' })
    parts.push(part)
  }
  const at = parts.findIndex((part) => part.kind === fileKind && part.name === vocabularyFile)
  const vocabulary = at < 0 ? undefined : await vocabularyFor(parts, parts[at]!, write)
  if (vocabulary) {
    noter(actions, 'part', vocabularyFile)('map', 'form', { reason: 'its tokens have a place, as a vocabulary' })
    parts[at] = vocabulary
  }
  return done()
}

/** All but what nobody wants. */
function wantedParts({ parts, files: [main] }: Model, options: ConvertOptions, actions: ActionLog): Part[] {
  const names = options.without ?? []
  for (const name of names) {
    if (parts.some((part) => part.name === name || part.kind === name)) continue
    const known = parts.map((part) => part.name ?? part.kind)
    const message = `there is no part ${JSON.stringify(name)} to leave out; the model has ${known.join(', ') || 'none'}`
    failWith(usageCodes.option, { file: main?.name ?? '', path: '--without', message })
  }
  const isUnwanted = ({ kind, name }: Part): boolean =>
    (options.files === false && kind === fileKind) ||
    names.includes(kind) ||
    (name !== undefined && names.includes(name))
  for (const part of parts.filter(isUnwanted))
    noter(actions, 'part', part.name ?? part.kind)('drop', 'content', { requested: true, reason: 'left out' })
  return parts.filter((part) => !isUnwanted(part))
}

/** For targets that hold vocabularies but no files. */
async function vocabularyFor(parts: readonly Part[], file: Part, write: WriteCapabilities): Promise<Part | undefined> {
  if (parts.some(({ kind }) => kind === vocabularyKind) || write.part(file).fits) return undefined
  if (!file.data || file.data.byteLength === 0 || file.data.byteLength > largestVocabulary) return undefined
  const { part } = parseVocabularyText(await readPayload(file.data))
  return write.part(part).fits ? part : undefined
}

/** What a directory holds beyond what the format itself does. */
export function inFolder(write: WriteCapabilities): WriteCapabilities {
  return {
    ...write,
    part(part) {
      const fit = write.part(part)
      if (fit.fits) return fit
      if (part.kind === vocabularyKind) return vocabularyAsFile(part) ?? fit
      return part.kind === fileKind && part.data && isPlainFileName(part.name ?? '') ? { fits: true } : fit
    },
  }
}

function vocabularyAsFile(part: Part): Fit<Part> | undefined {
  const { tokens } = part.content as Vocabulary
  const lineFeed = 0x0a
  if (tokens.some((token) => token.includes(lineFeed))) return undefined
  const as = filePart(vocabularyFile, bytesPayload(exportVocabulary(part).bytes))
  return { fits: true, as, reason: `as lines of ${vocabularyFile}` }
}
