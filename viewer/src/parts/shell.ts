// Words of a command as a shell reads them, whatever names they hold.
import { hidden } from './visible.js'

const plain = /^[\w./:@%+=,-]+$/

/** A character that is pasted into a terminal as it is can be a key: Ctrl-C ends the line, and what comes behind it is another one. */
const octal = (character: string): string =>
  Array.from(new TextEncoder().encode(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')

/** Quoted as POSIX has it; names with characters that do not show as its newest edition has it, which most shells know. */
export function shellWord(word: string): string {
  if (plain.test(word)) return word
  if (word.search(hidden) < 0) return `'${word.replaceAll("'", "'\\''")}'`
  return `$'${word.replace(/['\\]/g, '\\$&').replace(hidden, octal)}'`
}

export const commandLine = (words: readonly string[]): string => words.map(shellWord).join(' ')

/** A command about one tensor, whose name could begin as options do. */
export const tensorCommand = (
  verb: string,
  file: string,
  tensor: string,
  options: readonly string[],
): readonly string[] =>
  tensor.startsWith('-') ? ['tare', verb, ...options, '--', file, tensor] : ['tare', verb, file, tensor, ...options]
