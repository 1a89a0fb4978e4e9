// What help and man pages say about a verb beside its flags.
import type { Verb } from './verbs/verb.js'

/** What a verb does, as a sentence; then what else there is to know. */
export function describeVerb({ summary, description }: Verb): string {
  const sentence = `${summary[0]!.toUpperCase()}${summary.slice(1)}.`
  return description === undefined ? sentence : `${sentence}\n\n${description}`
}

/** What the exit status of a verb tells. */
export const exitStatus = ({ no }: Verb): readonly (readonly [status: string, meaning: string])[] => [
  ['0', 'success, or the answer is yes'],
  ['1', `the answer is no: ${no}`],
  [
    '2',
    'could not run: wrong usage, a missing or unreadable input, a network failure, an output that cannot be written',
  ],
]

/** Examples and exit status, as help has them below the flags. */
export function helpFooter(verb: Verb, width: number): string {
  const examples = verb.examples.map(([line, what]) => `  ${line}\n${wrapped(what, width, 6)}`)
  const statuses = exitStatus(verb).map(([status, meaning]) => `  ${status}  ${wrapped(meaning, width, 5).trimStart()}`)
  return `\nExamples:\n${examples.join('\n')}\n\nExit status:\n${statuses.join('\n')}`
}

/** Paragraphs of at most `width` columns. Lines that are indented, as in a list, go on further to the right. */
export const wrapLines = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => {
      const indent = /^ */.exec(line)![0].length
      const hanging = indent === 0 ? 0 : indent + 2
      return ' '.repeat(indent) + wrapped(line.slice(indent), width, hanging).trimStart()
    })
    .join('\n')

/** Descriptions stand beside the terms if there is room for that, and else below them. */
const minDescriptionWidth = 38

/** How help lists an option or argument, as the `formatItem` of commander: `termWidth` is the width of the longest term. */
export function formatItem(term: string, termWidth: number, description: string, width: number): string {
  const column = 2 + termWidth + 2
  if (width - column < minDescriptionWidth) return `  ${term}\n${wrapped(description, width, 6)}`
  return `  ${term.padEnd(termWidth)}  ${wrapped(description, width, column).trimStart()}`
}

/** Lines of at most `width` columns, with spaces before each. */
function wrapped(text: string, width: number, indent: number): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return [...lines, line].map((each) => `${' '.repeat(indent)}${each}`).join('\n')
}
