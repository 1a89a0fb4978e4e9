import { createWriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { ByteSink } from '../bytes/index.js'
import { FileSink, type FileSinkOptions } from './files/file-sink.js'
import { ioError, withIoErrors } from './files/io-error.js'
import { StreamSink } from './files/stream-sink.js'

/** Opens the output named by the user after `-o`: a file, `-` for standard output, or a pipe or device such as /dev/null. */
export async function openOutput(output: string, options?: FileSinkOptions): Promise<ByteSink> {
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
