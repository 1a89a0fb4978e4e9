// Where the output of a conversion goes, and what it is called.
import { rmdirSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { type Format, findingOf, formatById, formatForOutput, formats, ioCodes, type Model } from '../../../node.js'
import type { ConvertFlags } from './check-options.js'
import { OutputError } from '../../output/guarded-output.js'
import { stemOf } from '../../output/output-name.js'
import { onEarlyExit } from '../../console/process-events.js'
import { unknownOutput } from '../../output/plan.js'

/** Where the output of one input goes. */
export interface Place {
  readonly format: Format
  readonly directory: string
  readonly name: string
  /** Standard output, which has no name. */
  readonly isStream: boolean
  /** The output was named as a directory, which is made when it is not there. */
  readonly inDirectory: boolean
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
  return { format, directory, name, isStream, inDirectory: intoDirectory, isFolder }
}

const canBeFolder = (format: Format): boolean => format.capabilities.write?.folder === true && !!format.published

/** Makes the directory when it is not there, and takes it away again when nothing comes of it: after an error, and after Ctrl-C. */
export async function inNewDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const made = await mkdir(directory, { recursive: true }).catch((error: Error) => {
    throw new OutputError(findingOf(ioCodes.failed, { file: directory, message: error.message }))
  })
  const remove = (): void => removeEmpty(resolve(directory), made && resolve(made))
  const forget = onEarlyExit(remove)
  try {
    return await work()
  } catch (error) {
    remove()
    throw error
  } finally {
    forget()
  }
}

/** From a directory up to the first one that was made; what is not empty stays. At once, because a process that ends does not wait. */
function removeEmpty(directory: string, first: string | undefined): void {
  try {
    for (let path = directory; first !== undefined && path.startsWith(first); path = dirname(path)) rmdirSync(path)
  } catch {}
}
