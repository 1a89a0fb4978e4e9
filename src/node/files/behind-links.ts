import { readlink, realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Where a path leads; a link may lead to what is not there yet. */
export async function behindLinks(path: string): Promise<string> {
  const found = await realpath(path).catch(absent)
  if (found !== undefined) return found
  const link = await readlink(path).catch(() => undefined)
  return link === undefined ? path : behindLinks(resolve(await realpath(dirname(path)), link))
}

export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
  return undefined
}
