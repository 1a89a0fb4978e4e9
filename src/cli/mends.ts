import { formats } from '../node.js'

/** What can be mended of the files of each format, one line for each. */
export function describeMends(): string {
  const rows = formats.flatMap(({ title, mends }) => (mends === undefined ? [] : [`  ${title}: ${mends}`]))
  return `What can be mended:\n${rows.join('\n')}`
}
