// Which file of a directory is the model. All formats look at the names, and their answers must agree.
import { type Finding, failWith, findingOf, ioCodes, openCodes } from '../errors/index.js'
import type { Format } from '../model/index.js'
import { describeForeign, foreignDirectory } from './foreign.js'

/** What a format says about directories. */
export type DirectoryFormat = Partial<Pick<Format, 'mainFile' | 'published' | 'extensions'>>

/** The file to open in a directory that holds one model. `files` are plain names. */
export function mainFileIn(
  directory: string,
  files: readonly string[],
  formats: readonly DirectoryFormat[],
  onFinding?: (finding: Finding) => void,
): string {
  const answers = new Set(formats.flatMap((format) => format.mainFile?.(files) ?? []))
  if (answers.size === 0) refuseEmpty(directory, files, formats)
  const [first] = answers.size === 1 ? answers : preferred(answers, formats)
  if (first === undefined) {
    const message = `it holds several models (${listed([...answers].sort())}); name one of them`
    return failWith(ioCodes['ambiguous-directory'], { file: directory, message })
  }
  if (answers.size > 1) {
    const others = [...answers].filter((answer) => answer !== first)
    const message = `it holds ${first} and ${others.join(', ')}; opening ${first}`
    onFinding?.(findingOf(openCodes['several-forms'], { message }, directory))
  }
  return first
}

/** Whether the answers of all formats are about one model, in one form or in several. */
export const isOneModel = (answers: ReadonlySet<string>, formats: readonly DirectoryFormat[]): boolean =>
  answers.size === 1 || preferred(answers, formats).length > 0

/** The same model in several forms; empty if one of the answers may be another model. */
function preferred(answers: ReadonlySet<string>, formats: readonly DirectoryFormat[]): readonly string[] {
  const known = formats.flatMap((format) => format.published ?? [])
  if (![...answers].every((answer) => known.includes(answer))) return []
  return known.filter((name) => answers.has(name))
}

function refuseEmpty(directory: string, files: readonly string[], formats: readonly DirectoryFormat[]): never {
  // Few .json files in a directory are models.
  const extensions = formats.flatMap((format) => format.extensions ?? []).filter((extension) => extension !== '.json')
  const candidates = files.filter((name) => extensions.some((extension) => name.toLowerCase().endsWith(extension)))
  if (candidates.length > 1) {
    const message = `it is not clear which of ${listed(candidates)} is meant; name one`
    failWith(ioCodes['ambiguous-directory'], { file: directory, message })
  }
  const foreign = foreignDirectory(files)
  if (foreign) failWith(openCodes['foreign-format'], { file: directory, message: describeForeign(foreign) })
  const message =
    files.length === 0 ? 'there is no file in it' : `no file in it (of ${files.length}) is a model that tare knows`
  failWith(ioCodes['empty-directory'], { file: directory, message })
}

const listed = (names: readonly string[]): string =>
  names.length <= 5 ? names.join(', ') : `${names.slice(0, 4).join(', ')} and ${names.length - 4} more`
