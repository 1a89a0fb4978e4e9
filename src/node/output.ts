import { join } from 'node:path'
import type { ByteSink } from '../bytes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { S3SinkOptions } from '../remote/s3/sink.js'
import { type FileSinkOptions, openLocalOutput } from './files/file-sink.js'
import { refuseOtherAddresses } from './input.js'
import { isRemote } from './remote/remote-input.js'

/** What may become of an output, wherever it is. */
export interface OutputOptions extends FileSinkOptions, Pick<S3SinkOptions, 'resume' | 'identity' | 'signal'> {}

/**
 * Opens the output named by the user after `-o`: a file, an address of a store, `-` for standard output, or a pipe or device such as /dev/null.
 */
export async function openOutput(output: string, options: OutputOptions = {}): Promise<ByteSink> {
  refuseOtherAddresses(output)
  if (!isRemote(output)) return openLocalOutput(output, options)
  if (!/^(?:s3|gs):/i.test(output))
    failWith(usageCodes.option, {
      file: output,
      message: 'a file, an s3 or a gs address can be written, and nothing else',
    })
  return (await import('./remote/s3-output.js')).openS3Output(output, options)
}

/** The path of a file in a directory, or its address below one. */
export function pathIn(directory: string, name: string): string {
  refuseOtherAddresses(directory)
  return isRemote(directory) ? `${directory.replace(/\/+$/, '')}/${name}` : join(directory, name)
}
