// Where the output of a conversion goes, and what it is called.
import { mkdir, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { type Format, findingOf, formatById, formatForOutput, formats, ioCodes, type Model } from '../node.js'
import type { ConvertFlags } from './convert-flags.js'
import { OutputError } from './open-guarded.js'
import { unknownOutput } from './show-plan.js'

/** Where the output of one input goes. */
export interface Place {
  readonly format: Format
  readonly directory: string
  readonly name: string
  /** Standard output, which has no name. */
  readonly isStream: boolean
  /** The directory is the output: the model and its files, under the names that programs look for. */
  readonly isFolder: boolean
}

export async function isDirectory(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() ?? path.endsWith('/')
}

export function placeFor(
  input: string,
  model: Model,
  { output, to, files }: ConvertFlags,
  isAlone: boolean,
  intoDirectory: boolean,
): Place {
  const isStream = output === '-'
  const named = output === undefined || isStream || intoDirectory ? undefined : basename(output)
  const asked = to === undefined ? named && formatForOutput(named) : formatById(to)
  const format = asked || (isAlone ? formats.find(canBeFolder) : undefined)
  if (!format) throw unknownOutput()
  const directory = output === undefined || isStream ? '.' : intoDirectory ? output : dirname(output)
  const bringsFiles = files !== false && model.parts.some(({ kind }) => kind === 'file')
  const isFolder = isAlone && canBeFolder(format) && (!asked || bringsFiles)
  const name = named ?? (isFolder ? format.published![0]! : `${stemOf(input)}${format.extensions[0] ?? ''}`)
  return { format, directory, name, isStream, isFolder }
}

const canBeFolder = (format: Format): boolean => format.capabilities.write?.folder === true && !!format.published

/** The input's name without what says its format. */
function stemOf(input: string): string {
  const name = input === '-' ? 'model' : basename(input)
  const extension = formatForOutput(name)?.extensions.find((each) => name.toLowerCase().endsWith(each)) ?? ''
  return name.slice(0, name.length - extension.length) || 'model'
}

/** Makes the directory when it is not there, and takes it away again when nothing comes of it. */
export async function inNewDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const made = await mkdir(directory, { recursive: true }).catch((error: Error) => {
    throw new OutputError(findingOf(ioCodes.failed, { file: directory, message: error.message }))
  })
  try {
    return await work()
  } catch (error) {
    // Only what is empty goes; the first directory that was made ends it.
    for (let path = resolve(directory); made && path.startsWith(made); path = dirname(path))
      await rmdir(path).catch(() => {})
    throw error
  }
}
