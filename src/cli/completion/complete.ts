// What can stand where the cursor is. Everything follows from the table of verbs and their flags; only the names of tensors are looked up in
// the file that is given.
import { type Flag, type Flags, longName } from '../flags/flag.js'
import { flagsOf } from '../parser.js'
import { verbs } from '../verbs/index.js'
import { shells } from './scripts.js'

/** A word, and what it means where that is known. */
export interface Candidate {
  readonly word: string
  readonly about?: string
}

/** The words behind `tare`, the last one up to the cursor; the answer is all words that continue it. */
export async function complete(words: readonly string[]): Promise<Candidate[]> {
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  const found = await candidates(before, current)
  return found.filter(({ word }) => word.startsWith(current) && !/\p{Cc}/u.test(word))
}

const plainWords = (words: readonly string[]): Candidate[] => words.map((word) => ({ word }))
const verbNames = (): Candidate[] => verbs.map(({ name, summary }) => ({ word: name, about: summary }))

async function candidates(before: readonly string[], current: string): Promise<readonly Candidate[]> {
  if (before.length === 0) return [...verbNames(), ...commands]
  if (before[0] === 'completion') return plainWords(shells)
  if (before[0] === 'help') return verbNames()
  const verb = verbs.find(({ name }) => name === before[0])
  if (!verb) return []
  const ofFormats = verb.formatOptions && (await import('../format-facts.js')).formatFlags(verb.formatOptions)
  const flags = flagsOf(verb, ofFormats)
  const [name, value] = current.startsWith('--') ? current.split('=', 2) : []
  if (value !== undefined) return plainWords((await valuesOf(name!, flags, before)).map((each) => `${name}=${each}`))
  if (current.startsWith('-')) return flagNames(flags)
  const last = before.at(-1)!
  if (takesValue(flagNamed(last, flags)?.[1])) return plainWords(await valuesOf(last, flags, before))
  if (!verb.arguments.some(({ name }) => name === '[tensor]') || inputsIn(before, flags).length !== 1) return []
  return plainWords(await tensorNames(before, flags))
}

const commands: readonly Candidate[] = [
  { word: 'help', about: 'the same as tare VERB --help' },
  { word: 'completion', about: 'print the completion script of a shell' },
  { word: '--help', about: 'show help' },
  { word: '--version', about: 'print the version' },
]

const flagNames = (flags: Flags): Candidate[] => [
  { word: '--help', about: 'show help' },
  ...Object.entries(flags).flatMap(([name, { description, negated, group = '' }]) => [
    ...(description === undefined ? [] : [{ word: longName(name), about: `${formatsIn(group)}${description}` }]),
    ...(negated === undefined ? [] : [{ word: longName(name).replace('--', '--no-'), about: negated }]),
  ]),
]

/** `GGUF: ` of the heading `For GGUF`. */
const formatsIn = (group: string): string => (group.startsWith('For ') ? `${group.slice('For '.length)}: ` : '')

const flagNamed = (word: string, flags: Flags): [name: string, flag: Flag] | undefined =>
  Object.entries(flags).find(([name, { short }]) => word === longName(name) || (short && word === `-${short}`))

const takesValue = (flag: Flag | undefined): boolean => flag?.value?.startsWith('<') === true || !!flag?.choices

async function valuesOf(word: string, flags: Flags, before: readonly string[]): Promise<readonly string[]> {
  const [name, flag] = flagNamed(word, flags) ?? []
  if (flag?.choices) return flag.choices
  if (flag?.value?.includes('glob') || name === 'renameTensor') return tensorNames(before, flags)
  if (name === 'from') return (await library()).formatIds()
  if (name === 'to') return (await library()).writtenFormatIds()
  if (name === 'cast' || name === 'as') return (await library()).elementTypeIds()
  return name === 'method' || name === 'quantize' ? (await library()).methodIds() : []
}

const library = () => import('./values.js')

/** The words that are neither the verb nor flags nor their values. */
const inputsIn = (before: readonly string[], flags: Flags): string[] =>
  before.slice(1).filter((word, i) => !word.startsWith('-') && !takesValue(flagNamed(before[i]!, flags)?.[1]))

/** Of the first input. */
async function tensorNames(before: readonly string[], flags: Flags): Promise<readonly string[]> {
  const [input] = inputsIn(before, flags)
  return input === undefined || input === '-' ? [] : (await library()).tensorNames(input)
}
