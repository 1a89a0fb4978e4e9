// Files that options name beside the input: texts, vocabularies, receipts, digests. Without one of them the run cannot be done.
import { constants } from 'node:buffer'
import { readFile, stat } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { UsageError } from './status.js'

/** `-` is standard input. At most as many bytes as one text can have, unless told. */
export async function readSideFile(file: string, mostBytes = constants.MAX_STRING_LENGTH): Promise<Buffer> {
  try {
    if (file !== '-') refuseBeyond(mostBytes, (await stat(file)).size)
    const bytes = file === '-' ? await buffer(process.stdin) : await readFile(file)
    refuseBeyond(mostBytes, bytes.length)
    return bytes
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${reasonOf(error as Error)}`)
  }
}

function refuseBeyond(most: number, size: number): void {
  if (size > most) throw new Error(`it has more than ${most} bytes`)
}

/** Of `ENOENT: no such file or directory, open 'x'` the part in the middle. */
const reasonOf = ({ message }: Error): string => message.replace(/^[A-Z0-9_]+: (.*?), \w+( '.*)?$/s, '$1')
