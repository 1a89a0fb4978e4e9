// Where the output of a conversion goes, and what it is called.
import { rmdirSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type Format, findingOf, formats, ioCodes, type Model } from '../../../kit-node.js'
import { onEarlyExit } from '../../console/process-events.js'
import { OutputError } from '../../input/run-inputs.js'
import { formatOfOutput, stemOf, unknownOutput } from '../../output/output.js'
import type { ConvertOptions } from './index.js'

/** Where the output of one input goes. */
export interface Place {
  readonly format: Format
  readonly directory: string
  readonly name: string
  /** The output was named as a directory, which is made when it is not there. */
  readonly inDirectory: boolean
  /** The directory is the output: the model and its files, under the names that programs look for. */
  readonly isFolder: boolean
  /** The path of a file of the output; `-` is standard output. */
  pathOf(name: string): string
}

export async function isDirectory(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() ?? path.endsWith('/')
}

export function placeFor(
  input: string,
  model: Model,
  { output, to, files }: ConvertOptions,
  isAlone: boolean,
  intoDirectory: boolean,
): Place {
  const isStream = output === '-'
  const named = output === undefined || isStream || intoDirectory ? undefined : basename(output)
  const asked = formatOfOutput(named, to)
  const format = asked ?? (isAlone ? formats.find(canBeFolder) : undefined)
  if (!format) throw unknownOutput()
  const directory = output === undefined || isStream ? '.' : intoDirectory ? output : dirname(output)
  const bringsFiles = files !== false && model.parts.some(({ kind }) => kind === 'file')
  const isFolder = isAlone && canBeFolder(format) && (!asked || bringsFiles)
  return {
    format,
    directory,
    name: named ?? (isFolder ? format.published![0]! : `${stemOf(input)}${format.extensions[0] ?? ''}`),
    inDirectory: intoDirectory,
    isFolder,
    pathOf: (name) => (isStream ? '-' : join(directory, name)),
  }
}

const canBeFolder = (format: Format): boolean => format.capabilities.write?.folder === true && !!format.published

/** Makes the directory when it is not there, and removes it again when the work fails or is interrupted. */
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

/** From a directory up to the first one that was made, while they are empty. Synchronous, because a process that ends does not wait. */
function removeEmpty(directory: string, first: string | undefined): void {
  try {
    for (let path = directory; first !== undefined && path.startsWith(first); path = dirname(path)) rmdirSync(path)
  } catch {}
}
