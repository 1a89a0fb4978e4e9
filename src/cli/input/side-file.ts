// Files that flags name beside the input: texts, vocabularies, receipts, digests. Without one of them the run cannot be done.
import { constants } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { openInput } from '../../kit-node.js'
import { UsageError } from '../status.js'

/** `-` is standard input. By default the limit is what a string can hold. */
export async function readSideFile(file: string, maxBytes = constants.MAX_STRING_LENGTH): Promise<Buffer> {
  try {
    const bytes = file === '-' ? await buffer(process.stdin) : await readPath(file, maxBytes)
    refuseBeyond(maxBytes, bytes.length)
    return bytes
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error as Error)}`)
  }
}

async function readPath(file: string, maxBytes: number): Promise<Buffer> {
  const stats = await stat(file)
  refuseBeyond(maxBytes, stats.size)
  if (!stats.isFIFO()) return readFile(file)
  // A shell makes <(command) a named pipe. A plain read of one that never delivers anything could not be cancelled.
  const pipe = await openInput(file)
  try {
    return Buffer.from(await pipe.read(0, pipe.size))
  } finally {
    await pipe.close()
  }
}

function refuseBeyond(maxBytes: number, size: number): void {
  if (size > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`)
}

/** Of `ENOENT: no such file or directory, open 'x'` the part in the middle. */
const reasonOf = ({ message }: Error): string => message.replace(/^[A-Z0-9_]+: (.*?), \w+( '.*)?$/s, '$1')
