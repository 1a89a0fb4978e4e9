// Files that options name beside the input: texts, vocabularies, receipts, digests. Without one of them the run cannot be done.
import { constants } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { openInput } from '../../node.js'
import { UsageError } from '../status.js'

/** `-` is standard input. At most as many bytes as one text can have, unless told. */
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
  // What a shell makes of <(command). Nothing would end a plain read of a pipe through which nothing comes.
  const pipe = await openInput(file)
  try {
    return Buffer.from(await pipe.read(0, pipe.size))
  } finally {
    await pipe.close()
  }
}

function refuseBeyond(most: number, size: number): void {
  if (size > most) throw new Error(`it has more than ${most} bytes`)
}

/** Of `ENOENT: no such file or directory, open 'x'` the part in the middle. */
const reasonOf = ({ message }: Error): string => message.replace(/^[A-Z0-9_]+: (.*?), \w+( '.*)?$/s, '$1')
