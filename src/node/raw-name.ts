// The bytes of file names that are not UTF-8. Node replaces what it cannot decode by U+FFFD, and with that a name does not lead to its file.
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, sep } from 'node:path'

/** Those of the argument of this process that Node gives as `word`; Linux keeps them. Undefined elsewhere, and where two arguments look the same. */
export function rawArgument(word: string): Buffer | undefined {
  if (!word.includes('\ufffd')) return undefined
  try {
    const words = splitAtNul(readFileSync('/proc/self/cmdline')).filter((bytes) => bytes.toString() === word)
    return words.every((bytes) => bytes.equals(words[0]!)) ? words[0] : undefined
  } catch {
    return undefined // another system, or one without /proc
  }
}

function splitAtNul(bytes: Buffer): Buffer[] {
  const words: Buffer[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(0, start)
    words.push(bytes.subarray(start, end < 0 ? bytes.length : end))
    start = end < 0 ? bytes.length : end + 1
  }
  return words
}

/** Those of a file that a listing of its directory gave as `path`. Undefined where two names in the directory look the same. */
export async function rawEntry(path: string): Promise<Buffer | undefined> {
  const directory = dirname(path)
  const entries = await readdir(directory, { encoding: 'buffer' }).catch((): Buffer[] => [])
  const [found, ...others] = entries.filter((bytes) => bytes.toString() === basename(path))
  return found && others.length === 0 ? Buffer.concat([Buffer.from(directory + sep), found]) : undefined
}
