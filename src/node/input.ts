import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { ByteSource, SourceFolder } from '../bytes/index.js'
import { failWith, ioCodes, usageCodes } from '../errors/index.js'
import { formats } from '../formats/index.js'
import { type DirectoryFormat, findFolder, findModel } from './files/directory.js'
import { FileSource, finishReplacing, kindOf } from './files/file-source.js'
import { withIoErrors } from './files/io-error.js'
import { behindLinks } from './files/paths.js'
import { spool } from './files/spool.js'
import { isRemote, openRemote, type RemoteOptions } from './remote/remote-input.js'

export interface InputOptions extends RemoteOptions {
  /** The formats that may recognise a directory. */
  readonly formats?: readonly DirectoryFormat[]
}

/**
 * Opens an input named by the user: a path, a directory that holds one model, an http address, or `-` for standard input. A directory
 * includes the files that belong to the model; a file is opened alone.
 */
export async function openInput(input: string, options: InputOptions = {}): Promise<ByteSource> {
  if (input === '-') return openStdin(options.signal)
  if (isRemote(input)) return openRemote(input, options)
  if (/^s3:\/\//i.test(input)) {
    failWith(usageCodes.option, {
      file: input,
      message: 's3 addresses cannot be opened yet; use an https address of the object',
    })
  }
  // If replacing a set was interrupted, the main file may be missing.
  await finishReplacing(await behindLinks(input).catch(() => input))
  const stats = await withIoErrors(input, () => stat(input))
  const known = options.formats ?? formats
  if (stats.isFile()) return openFile(input, await findFolder(input, known))
  if (stats.isDirectory()) {
    const { path, folder } = await findModel(input, known, options.onFinding)
    return openFile(path, folder)
  }
  return openSpecial(input, stats, options.signal)
}

async function openFile(path: string, folder: SourceFolder | undefined): Promise<FileSource> {
  const source = await FileSource.open(path)
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
