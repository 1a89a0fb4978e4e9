// Files that flags name beside the input, here or at an address: texts, vocabularies, receipts, digests. Without one of them the run cannot be done.
import { constants } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { isRemote, openInput, type RemoteOptions } from '../../kit-node.js'
import { UsageError } from '../status.js'

/** `-` is standard input. By default the limit is what a string can hold. */
export async function readSideFile(
  file: string,
  maxBytes = constants.MAX_STRING_LENGTH,
  remote?: RemoteOptions,
): Promise<Buffer> {
  try {
    const bytes =
      file === '-'
        ? await buffer(process.stdin)
        : isRemote(file)
          ? await readOpened(file, maxBytes, remote)
          : await readPath(file, maxBytes)
    refuseBeyond(maxBytes, bytes.length)
    return bytes
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error as Error)}`, { cause: error })
  }
}

async function readPath(file: string, maxBytes: number): Promise<Buffer> {
  const stats = await stat(file)
  refuseBeyond(maxBytes, stats.size)
  // A shell makes <(command) a named pipe. A plain read of one that never delivers anything could not be cancelled.
  return stats.isFIFO() ? readOpened(file, maxBytes) : readFile(file)
}

async function readOpened(file: string, maxBytes: number, remote?: RemoteOptions): Promise<Buffer> {
  const source = await openInput(file, remote)
  try {
    refuseBeyond(maxBytes, source.size)
    return Buffer.from(await source.read(0, source.size))
  } finally {
    await source.close()
  }
}

function refuseBeyond(maxBytes: number, size: number): void {
  if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
}

/** Of `ENOENT: no such file or directory, open 'x'` the part in the middle. */
const reasonOf = ({ message }: Error): string => message.replace(/^[A-Z0-9_]+: (.*?), \w+( '.*)?$/s, '$1')
