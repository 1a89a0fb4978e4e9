// What makes two runs the same: then one can go on with what the other has uploaded.
import { stat } from 'node:fs/promises'
import type { ByteSource, Conversion } from '../../kit-node.js'
import type { Context } from '../context.js'

/** The version, the words, the files that are among them, the inputs and the plan, as text. */
export async function identityOf(
  { invocation }: Pick<Context, 'invocation'>,
  { plan }: Conversion,
  inputs: readonly ByteSource[],
): Promise<string> {
  const words = invocation.filter((word) => word !== '--resume')
  const files = await Promise.all(words.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]).map(stateOf))
  const sources = inputs.map(({ name, size, stored }) => [name, size, stored?.etag])
  return JSON.stringify([words, files, sources, plan])
}

async function stateOf(path: string): Promise<readonly number[] | null> {
  const stats = await stat(path).catch(() => undefined)
  return stats ? [stats.size, stats.mtimeMs] : null
}
