// What the command line knows from the list of formats: their flags, what they can repair, their names. A new format brings its own.
// Loaded only when it is needed, since the formats are.
import { algorithms, digestProviderName, type FormatOption, formats } from '../kit-node.js'
import type { Console } from './console/console.js'
import { formatTable } from './console/table.js'
import type { Flag, Flags } from './flags/flag.js'
import { parseCount, parseSize } from './flags/parse-values.js'

/** The flags that formats declare for a stage, by the names that formats know them by. */
export function formatFlags(stage: 'write' | 'check'): Flags {
  const rows = new Map<string, { option: FormatOption; titles: Map<string, string[]> }>()
  for (const { title, options } of formats)
    for (const option of options?.[stage] ?? []) {
      const row = rows.get(option.name) ?? { option, titles: new Map() }
      row.titles.set(option.description, [...(row.titles.get(option.description) ?? []), title])
      rows.set(option.name, row)
    }
  const describe = (titles: Map<string, string[]>): string =>
    titles.size === 1
      ? [...titles.keys()][0]!
      : [...titles].map(([description, of]) => `${of.join(', ')}: ${description}`).join('; ')
  const groupOf = (titles: Map<string, string[]>): string =>
    `For ${[...new Set([...titles.values()].flat())].join(', ')}`
  return Object.fromEntries(
    [...rows].map(([name, { option, titles }]) => [
      name,
      { ...toFlag(option, describe(titles)), group: groupOf(titles) },
    ]),
  )
}

/** Stands for an optional value that was left out. */
const leftOut = ''

function toFlag(option: FormatOption, description: string): Flag {
  const { argument, choices } = option
  const parse = parserOf(option)
  if (argument === undefined) return { description }
  if (!argument.startsWith('[')) return { value: `<${argument}>`, description, choices, parse }
  return {
    value: `[${argument.slice(1, -1)}]`,
    description,
    choices: choices && [...choices, leftOut],
    bare: leftOut,
    accepts: (word) => word !== leftOut && succeeds(() => parse(word)),
    parse: (text) => (text === leftOut ? true : parse(text)),
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

/** What can be repaired of the files of each format, one line for each. */
export function describeRepairs(): string {
  const rows = formats.flatMap(({ title, repairs }) => (repairs === undefined ? [] : [`  ${title}: ${repairs}`]))
  return `What can be repaired:\n${rows.join('\n')}`
}

/** The version and what is in use, since speed depends on it. */
export async function printVersions(console: Console, version: string): Promise<void> {
  const rows = [
    ['node', process.version],
    ['system', `${process.platform} ${process.arch}`],
  ]
  for (const algorithm of algorithms) rows.push([algorithm, await digestProviderName(algorithm)])
  rows.push(['formats', formats.map((format) => format.id).join(' ')])
  await console.print([`tare ${version}`, ...formatTable([{ title: '' }, { title: '' }], rows)])
}
