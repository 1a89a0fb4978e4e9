import type { Stats } from 'node:fs'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { isatty } from 'node:tty'
import type { ByteSource } from '../bytes/index.js'
import { failWith, ioCodes, usageCodes } from '../errors/index.js'
import { formats } from '../formats/index.js'
import type { Format } from '../model/index.js'
import { findMainFile } from './directory.js'
import { FileSource, kindOf } from './file-source.js'
import { withIoErrors } from './io-error.js'
import { spool } from './spool.js'

export interface InputOptions {
  readonly signal?: AbortSignal | undefined
  /** The formats that may recognise a directory. */
  readonly formats?: readonly Pick<Format, 'mainFile'>[]
}

/** Opens what a person typed: a path, a directory that holds one model, or `-` for standard input. */
export async function openInput(input: string, options: InputOptions = {}): Promise<ByteSource> {
  if (input === '-') return openStdin(options.signal)
  if (/^(https?|s3):\/\//i.test(input)) {
    failWith(usageCodes.option, {
      file: input,
      message: 'addresses cannot be opened yet; download the file and give its path',
    })
  }
  const stats = await withIoErrors(input, () => stat(input))
  if (stats.isFile()) return FileSource.open(input)
  if (stats.isDirectory()) return FileSource.open(await findMainFile(input, options.formats ?? formats))
  return openSpecial(input, stats, options.signal)
}

/** Pipes are read to their end. Devices are refused: some of them never end. */
function openSpecial(input: string, stats: Stats, signal: AbortSignal | undefined): Promise<ByteSource> {
  if (stats.isFIFO()) return spool(createReadStream(input), input, { signal })
  failWith(ioCodes['not-a-file'], {
    file: input,
    message: `this is ${kindOf(stats)}, and a model is a file or a directory`,
  })
}

async function openStdin(signal: AbortSignal | undefined): Promise<ByteSource> {
  if (isatty(0))
    failWith(ioCodes['not-a-file'], { file: '-', message: 'standard input is a terminal; pipe a model into it' })
  return spool(process.stdin, '-', { signal })
}
