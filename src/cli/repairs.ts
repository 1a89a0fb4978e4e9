import { formats } from '../node.js'

/** What can be repaired of the files of each format, one line for each. */
export function describeRepairs(): string {
  const rows = formats.flatMap(({ title, repairs }) => (repairs === undefined ? [] : [`  ${title}: ${repairs}`]))
  return `What can be repaired:\n${rows.join('\n')}`
}
