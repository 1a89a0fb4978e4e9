// Flags that single formats declare, for converting and for verifying. They are read from the list of formats, so a new format brings
// its own flags and help.
import { type FormatOption, formats, type OptionValues } from '../node.js'
import type { OptionRow } from './flags/flag.js'
import { parseCount, parseSize } from './flags/parse-values.js'

export type OptionStage = 'write' | 'check'

/** What a format option is stored as when its optional value was left out. */
const leftOut = ''

export function formatOptionRows(stage: OptionStage): OptionRow[] {
  const rows = new Map<string, { option: FormatOption; titles: Map<string, string[]> }>()
  for (const { option, title } of declared(stage)) {
    const row = rows.get(option.name) ?? { option, titles: new Map() }
    row.titles.set(option.description, [...(row.titles.get(option.description) ?? []), title])
    rows.set(option.name, row)
  }
  return [...rows.values()].map(({ option, titles }) =>
    toRow(option, [...titles].map(([description, of]) => `${of.join(', ')}: ${description}`).join('; ')),
  )
}

/** The values that were given, under the names that formats know them by. */
export function formatOptionValues(stage: OptionStage, flags: Readonly<Record<string, unknown>>): OptionValues {
  const values: Record<string, string | number | boolean> = {}
  for (const { option } of declared(stage)) {
    const value = flags[camelCase(option.name)]
    if (value !== undefined) values[option.name] = value as string | number | boolean
  }
  return values
}

function declared(stage: OptionStage): { option: FormatOption; title: string }[] {
  return formats.flatMap((format) => (format.options?.[stage] ?? []).map((option) => ({ option, title: format.title })))
}

function toRow(option: FormatOption, description: string): OptionRow {
  const parse = parserOf(option)
  if (option.argument === undefined) return { flags: `--${option.name}`, description }
  const isOptional = option.argument.startsWith('[')
  const argument = isOptional ? option.argument : `<${option.argument.replace(/^<|>$/g, '')}>`
  return {
    flags: `--${option.name} ${argument}`,
    description,
    ...(option.choices && { choices: isOptional ? [...option.choices, leftOut] : option.choices }),
    ...(isOptional && { bare: leftOut, accepts: (word: string) => succeeds(() => parse(word)) && word !== leftOut }),
    parse: (text) => (isOptional && text === leftOut ? true : parse(text)),
  }
}

function parserOf({ kind, choices }: FormatOption): (text: string) => unknown {
  if (kind === 'size') return parseSize
  if (kind === 'integer') return parseCount
  return (text) => {
    if (choices && !choices.includes(text)) throw new Error('not one of the choices')
    return text
  }
}

function succeeds(call: () => unknown): boolean {
  try {
    call()
    return true
  } catch {
    return false
  }
}

const camelCase = (name: string): string => name.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
