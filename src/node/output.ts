import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ByteSink } from '../bytes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { S3SinkOptions } from '../remote/s3/sink.js'
import { FileSink, type FileSinkOptions } from './files/file-sink.js'
import { ioError, withIoErrors } from './files/io-error.js'
import { StreamSink } from './files/stream-sink.js'
import { isRemote } from './remote/remote-input.js'

/** What may become of an output, wherever it is. */
export interface OutputOptions extends FileSinkOptions, Pick<S3SinkOptions, 'resume' | 'identity' | 'signal'> {}

/**
 * Opens the output named by the user after `-o`: a file, an `s3:` address, `-` for standard output, or a pipe or device such as /dev/null.
 */
export async function openOutput(output: string, options?: OutputOptions): Promise<ByteSink> {
  if (isRemote(output)) {
    if (!/^s3:/i.test(output))
      failWith(usageCodes.option, { file: output, message: 'a file or an s3 address can be written, and nothing else' })
    return (await import('./remote/s3-output.js')).openS3Output(output, options ?? {})
  }
  if (output === '-') return new StreamSink(process.stdout, '-', false, options?.beforeCommit)
  const stats = await stat(output).catch(() => undefined)
  // A device must not be replaced by a file.
  if (!stats || stats.isFile() || stats.isDirectory()) return FileSink.open(output, options)
  if (stats.isFIFO()) {
    const { writePipe } = await import('./files/named-pipe.js')
    const pipe = await withIoErrors(output, () => writePipe(output))
    return new StreamSink(pipe, output, true, options?.beforeCommit)
  }
  const stream = createWriteStream(output)
  await new Promise<void>((resolve, reject) => {
    stream.once('open', () => resolve())
    stream.once('error', (error) => reject(ioError(error, output)))
  })
  return new StreamSink(stream, output, true, options?.beforeCommit)
}

/** The path of a file in a directory, or its address below one. */
export const pathIn = (directory: string, name: string): string =>
  isRemote(directory) ? `${directory.replace(/\/+$/, '')}/${name}` : join(directory, name)
