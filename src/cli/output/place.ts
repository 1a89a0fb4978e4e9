// Where the output of a conversion goes, and what it is called.
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type Format, formats, type Model, pathIn } from '../../kit-node.js'
import { formatOfOutput, stemOf, unknownOutput } from './output.js'

/** Where the output of one input goes. */
export interface Place {
  readonly format: Format
  readonly directory: string
  readonly name: string
  /** The directory is the output: the model and its files, under the names that programs look for. */
  readonly isFolder: boolean
  /** The path of a file of the output; `-` is standard output. */
  pathOf(name: string): string
}

interface PlaceOptions {
  readonly output?: string | undefined
  readonly to?: string | undefined
  readonly files?: boolean | undefined
}

export async function isDirectory(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() ?? path.endsWith('/')
}

export function placeFor(
  input: string,
  model: Model,
  { output, to, files }: PlaceOptions,
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
    isFolder,
    pathOf: (name) => (isStream ? '-' : pathIn(directory, name)),
  }
}

const canBeFolder = (format: Format): boolean => format.capabilities.write?.folder === true && !!format.published
