/** What can be mended of the files of each format, one line for each. */
export async function describeMends(): Promise<string> {
  const { formats } = await import('../node.js')
  const rows = formats.flatMap(({ title, mends }) => (mends === undefined ? [] : [`  ${title}: ${mends}`]))
  return `What can be mended:\n${rows.join('\n')}`
}
