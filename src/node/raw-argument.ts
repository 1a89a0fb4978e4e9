import { readFileSync } from 'node:fs'

/**
 * The bytes of the argument of this process that Node gives as `word`. Node replaces what is not UTF-8 by U+FFFD, and with that the name of a
 * file is gone; Linux still has the bytes. Undefined elsewhere, and where two arguments look the same.
 */
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
