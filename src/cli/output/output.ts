// The output that a verb is given: what its name says and must not say, and how it is opened.

import { rmdirSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import {
  type ByteSink,
  type ByteSource,
  FileSource,
  type Format,
  failWith,
  findingOf,
  formatForOutput,
  formats,
  ioCodes,
  isRemote,
  type Model,
  type OutputOptions,
  openOutput,
  pathIn,
  TareError,
  usageCodes,
} from '../../kit-node.js'
import { escapeName } from '../console/escape.js'
import { plural } from '../console/format-values.js'
import { expectAllBytes, onEarlyExit } from '../console/process-events.js'
import type { Context } from '../context.js'
import { assertUnchanged, formatNamed, OutputError } from '../input/run-inputs.js'
import { UsageError } from '../status.js'

/** For verbs that write files only. */
export function requireFile(output: string | undefined): string {
  if (output === undefined || output === '-') throw new UsageError('name the output with -o FILE')
  return output
}

export function checkStdout({ json }: Context, output: string | undefined): void {
  if (output === '-' && json) throw new UsageError('--json and -o - both write to standard output')
}

/** The format that `--to` names or, without it, the name of the output. */
export const formatOfOutput = (output: string | undefined, to: string | undefined): Format | undefined =>
  to === undefined ? formatForOutput(basename(output ?? '')) : formatNamed(to, '--to')

/** Also where only certain models can be written. */
export const isWritable = ({ capabilities }: Format): boolean => !!(capabilities.write ?? capabilities.writeFor)

/** The name of the output says no format; lists what `--to` takes. */
export function unknownOutput(): UsageError {
  const known = formats.filter(isWritable).map((each) => each.id)
  return new UsageError(`cannot tell the format from the name of the output; add --to with one of ${known.join(', ')}`)
}

/** The name of an input without the extension of its format. */
export function stemOf(input: string): string {
  const name = input === '-' ? 'model' : basename(input)
  const extension = formatForOutput(name)?.extensions.find((each) => name.toLowerCase().endsWith(each)) ?? ''
  return name.slice(0, name.length - extension.length) || 'model'
}

/** For verbs that keep the format: an extension of another format would mislead the next reader of the file. */
export function checkOutputName(output: string, format: string): void {
  const named = output === '-' ? undefined : formatForOutput(output)
  if (!named || named.id === format) return
  const message = `the format stays ${format}, but this name says ${named.id}; choose another, or use \`tare convert\``
  failWith(usageCodes.option, { file: output, message })
}

// Where the output of a conversion goes, and what it is called.

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

// Outputs that are made from inputs: no input is written over, and nothing becomes visible when an input changed while it was read.

export function openGuarded(output: string, inputs: readonly ByteSource[], options: OutputOptions): Promise<ByteSink> {
  if (output === '-') expectAllBytes()
  return openOutput(output, { ...options, beforeCommit: () => assertUnchanged(inputs) })
}

/** A model is not written over itself: its old file, perhaps the only copy, would be gone as soon as the new one is there. */
export async function assertNotInput(output: string, inputs: readonly ByteSource[]): Promise<void> {
  const refuse = (): never => {
    throw new OutputError(
      findingOf(ioCodes.exists, { file: output, message: 'this is the input itself; choose another name' }),
    )
  }
  if (isRemote(output) && inputs.some(({ name }) => name === output)) refuse()
  const there = output === '-' ? undefined : await stat(output).catch(() => undefined)
  if (!there) return
  for (const input of inputs)
    for (const path of input instanceof FileSource ? await input.openPaths() : []) {
      const { dev, ino } = await stat(path)
      if (dev === there.dev && ino === there.ino) refuse()
    }
}

/** Runs what reads a model and writes an output, and tells the errors of the two apart. */
export const markOutputErrors = <T>(model: Model, call: () => Promise<T>): Promise<T> =>
  markErrorsOf((file) => model.files.every(({ name }) => name !== file), call)

/** The same where the names of the outputs are known. */
export async function markErrorsOf<T>(isOutput: (file: string) => boolean, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof TareError) || !error.code.startsWith('io/') || !isOutput(error.finding.file)) throw error
    throw new OutputError(error.finding, { cause: error.cause })
  }
}

// What is said about files before and after they are written: directories that were made for them, and files that they replaced.

/** Runs what writes files of one directory, the main file first. The directory is made when it is not there. */
export async function writingTo<T>(context: Context, paths: readonly string[], work: () => Promise<T>): Promise<T> {
  const [main = '-'] = paths
  if (main === '-' || isRemote(main)) return work()
  const replaced = (await Promise.all(paths.map(isFile))).filter(Boolean).length
  const result = await inNewDirectory(context, dirname(main), work)
  const what = replaced === 1 ? 'the file that was there' : `${plural(replaced, 'file')} that were there`
  if (replaced > 0 && !context.json) context.console.remark(`${escapeName(main)}: replaced ${what}`)
  return result
}

const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isFile() ?? false

/** Makes the directory when it is not there, and removes it again when the work fails or is interrupted. */
async function inNewDirectory<T>({ console, json }: Context, directory: string, work: () => Promise<T>): Promise<T> {
  const made = await mkdir(directory, { recursive: true }).catch((error: Error) => {
    throw new OutputError(
      findingOf(ioCodes.failed, { file: directory, message: `the directory cannot be made: ${error.message}` }),
    )
  })
  const remove = (): void => removeEmpty(resolve(directory), made && resolve(made))
  const forget = onEarlyExit(remove)
  try {
    const result = await work()
    if (made !== undefined && !json) console.remark(`${escapeName(directory)}: created the directory`)
    return result
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
