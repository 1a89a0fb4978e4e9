import type { HashResult } from '../../../node.js'
import type { Console } from '../../console/console.js'
import { escapeName } from '../../console/escape.js'
import { plural } from '../../console/format-values.js'
import type { Difference } from './check.js'

/** The form that `parseHashes` reads back. */
export function* describeHashes(result: HashResult): Generator<string> {
  yield `# ${escapeName(result.file)} ${result.format} ${result.algorithm}${result.decoded ? ' decoded' : ''}`
  for (const { digest, name } of result.tensors) yield `${digest ?? '-'}  ${escapeName(name)}`
  yield `# fingerprint ${result.fingerprint}`
}

export function* describeCheck(
  result: HashResult,
  found: readonly Difference[],
  { color }: Console,
): Generator<string> {
  for (const { name, what } of found) yield `${color.red(what)}  ${escapeName(name)}`
  const verdict = found.length === 0 ? color.green('same') : color.red(plural(found.length, 'difference'))
  yield `${color.bold(escapeName(result.file))}: ${verdict} — ${plural(result.tensors.length, 'tensor')}, ${result.algorithm}${result.decoded ? ' of decoded values' : ''}`
}
