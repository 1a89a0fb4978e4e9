import { algorithms, digestProviderName, formats } from '../node.js'
import type { Console } from './console/console.js'
import { formatTable } from './console/table.js'

/** The version and, since speed depends on it, what is in use. */
export async function printVersions(console: Console, version: string): Promise<void> {
  const rows = [
    ['node', process.version],
    ['system', `${process.platform} ${process.arch}`],
  ]
  for (const algorithm of algorithms) rows.push([algorithm, await digestProviderName(algorithm)])
  rows.push(['formats', formats.map((format) => format.id).join(' ')])
  await console.print([`tare ${version}`, ...formatTable([{ title: '' }, { title: '' }], rows)])
}
