import type { Stats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ByteSource, SourceFolder } from '../bytes/index.js'
import { templateFolder } from '../content/companions.js'
import { type Finding, failWith, ioCodes, TareError, usageCodes } from '../errors/index.js'
import { formats } from '../formats/index.js'
import { type DirectoryFormat, mainFileIn } from '../formats/main-file.js'
import { FileSource, finishReplacing, kindOf } from './files/file-source.js'
import { withIoErrors } from './files/io-error.js'
import { recoverSets } from './files/replace-files.js'
import { spool } from './files/spool.js'
import { behindLinks } from './files/temp-files.js'
import { findModelsBelow, listFiles } from './find-models.js'
import { rawArgument, rawEntry } from './raw-name.js'
import { isRemote, openAddress, type RemoteOptions } from './remote/remote-input.js'

export interface InputOptions extends RemoteOptions {
  /** The formats that may recognise a directory. */
  readonly formats?: readonly DirectoryFormat[]
}

/**
 * Opens an input named by the user: a path, a directory that holds one model, an address, or `-` for standard input. A directory
 * includes the files that belong to the model; a file is opened alone.
 */
export async function openInput(input: string, options: InputOptions = {}): Promise<ByteSource> {
  if (input === '-') return openStdin(options.signal)
  if (input === '') failWith(usageCodes.option, { file: '""', message: 'the name of the input is empty' })
  refuseOtherAddresses(input)
  if (isRemote(input)) return openAddress(input, options)
  if (/^file:\/\//i.test(input)) return openInput(pathOfUrl(input), options)
  // If replacing a set was interrupted, the main file may be missing.
  await finishReplacing(await behindLinks(input).catch(() => input))
  const stats = await withIoErrors(input, () => stat(input)).catch((error) => openOddName(input, error))
  if (stats instanceof FileSource) return stats
  const known = options.formats ?? formats
  if (stats.isFile()) return openFile(input, await findFolder(input, known))
  if (stats.isDirectory()) {
    const { path, folder } = await findModel(input, known, options.onFinding)
    return openFile(path, folder)
  }
  return openSpecial(input, stats, options.signal)
}

/** Addresses of stores whose requests are signed in another way; addresses can be made that are signed already. */
const blobScheme = /^(?:az|abfss?|wasbs?|adl)$/

export function refuseOtherAddresses(input: string): void {
  const scheme = /^(az|abfss?|wasbs?|adl|ftps?|sftp|scp|ssh):\/\//i.exec(input)?.[1]?.toLowerCase()
  if (scheme === undefined) return
  const advice = blobScheme.test(scheme)
    ? 'use the https address of the blob with a shared access signature: https://ACCOUNT.blob.core.windows.net/CONTAINER/BLOB?sv=…; one for the whole container (az storage container generate-sas --permissions r) opens the files beside it, too'
    : 'http, https, s3, gs and hf addresses are'
  failWith(usageCodes.option, { file: input, message: `${scheme} addresses are not opened; ${advice}` })
}

function pathOfUrl(url: string): string {
  try {
    return fileURLToPath(url)
  } catch {
    return failWith(usageCodes.option, { file: url, message: 'this is not the address of a file on this machine' })
  }
}

/** A file that was not found by its name, because the name is not UTF-8 and Node has replaced some of it. */
async function openOddName(input: string, error: unknown): Promise<FileSource> {
  const isNotFound = error instanceof TareError && error.code === ioCodes['not-found'].code
  if (!isNotFound || !input.includes('\ufffd')) throw error
  const path = rawArgument(input) ?? (await rawEntry(input))
  if (path && (await stat(path).catch(() => undefined))?.isFile())
    return FileSource.fromHandle(await withIoErrors(input, () => open(path)), input)
  const message = 'there is no such file; if its name is not UTF-8, rename it or pipe it in: tare VERB - < FILE'
  return failWith(ioCodes['not-found'], { file: input, message })
}

async function openFile(path: string, folder: SourceFolder | undefined): Promise<FileSource> {
  const source = await FileSource.open(path).catch((error) => openOddName(path, error))
  if (folder) source.folder = folder
  return source
}

/** Pipes are read to their end. Devices are refused: some never end. */
async function openSpecial(input: string, stats: Stats, signal: AbortSignal | undefined): Promise<ByteSource> {
  if (stats.isFIFO()) {
    const { readPipe } = await import('./files/named-pipe.js')
    return spool(await withIoErrors(input, async () => readPipe(input)), input, { signal })
  }
  failWith(ioCodes['not-a-file'], {
    file: input,
    message: `this is ${kindOf(stats)}, and a model is a file or a directory`,
  })
}

async function openStdin(signal: AbortSignal | undefined): Promise<ByteSource> {
  if (process.stdin.isTTY)
    failWith(ioCodes['not-a-file'], { file: '-', message: 'standard input is a terminal; pipe a model into it' })
  return spool(process.stdin, '-', { signal })
}

interface FoundModel {
  readonly path: string
  readonly folder: SourceFolder
}

/** The file to open in a directory that holds one model. All formats look at the file names, and their answers must agree. */
export async function findModel(
  directory: string,
  formats: readonly DirectoryFormat[],
  onFinding?: (finding: Finding) => void,
): Promise<FoundModel> {
  await withIoErrors(directory, async () => recoverSets(directory))
  const files = await listFiles(directory)
  let first: string
  try {
    first = mainFileIn(directory, files, formats, onFinding)
  } catch (error) {
    throw await withModelsBelow(directory, error)
  }
  const below = await listTemplates(directory)
  return { path: join(directory, first), folder: { name: nameOf(directory), files, below, isWhole: true } }
}

async function listTemplates(directory: string): Promise<readonly string[]> {
  const names = await listFiles(join(directory, templateFolder)).catch((): string[] => [])
  return names.map((name) => `${templateFolder}/${name}`)
}

/** Hubs keep other forms of a model in directories of their own, such as `onnx`. */
async function withModelsBelow(directory: string, error: unknown): Promise<unknown> {
  if (!(error instanceof TareError) || error.code !== ioCodes['empty-directory'].code) return error
  const below = await findModelsBelow(directory).catch((): string[] => [])
  if (below.length === 0) return error
  const shown = below.slice(0, 4).join(', ')
  const more = below.length > 4 ? ` and ${below.length - 4} more` : ''
  return new TareError({ ...error.finding, message: `${error.finding.message}; name one below it: ${shown}${more}` })
}

/** The directory of a file that was opened alone, if it has a name under which models are published. */
async function findFolder(path: string, formats: readonly DirectoryFormat[]): Promise<SourceFolder | undefined> {
  const name = basename(path)
  if (!formats.some(({ published }) => published?.includes(name))) return undefined
  const directory = dirname(path)
  // Permission to open a file does not include listing the directory.
  const files = await listFiles(directory).catch(() => undefined)
  return files && { name: nameOf(directory), files, isWhole: false }
}

const nameOf = (directory: string): string => basename(resolve(directory))
