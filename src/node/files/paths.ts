// Where a path leads, and the journals that interrupted runs leave beside a file.
import { existsSync } from 'node:fs'
import { readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { editCodes } from '../../edit/codes.js'
import { callerWord, failWith } from '../../errors/index.js'

/** A link may point to a file that does not exist yet. */
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

/** File systems limit a name to 255 bytes; the kept part of the target's name must leave room for the rest. */
const keptBytes = 190

/** A name beside the target that does not look like a model. */
export function hiddenNameFor(target: string, ending: string): string {
  let stem = basename(target)
  while (Buffer.byteLength(stem) > keptBytes) stem = stem.slice(0, -1)
  return join(dirname(target), `.${stem}.${ending}`)
}

export const setJournalEnding = 'tare-set'
export const setJournalFor = (main: string): string => hiddenNameFor(main, setJournalEnding)
export const editJournalFor = (target: string): string => hiddenNameFor(target, 'tare-edit')

/** Throws `edit/interrupted` if the file may be half old and half new. The path must not contain links. */
export function assertNotEdited(path: string, name: string): void {
  const journal = editJournalFor(path)
  if (!existsSync(journal)) return
  const message = `an edit of it was interrupted; ${callerWord(`\`tare edit ${name}\``, 'recoverEdit()')} puts the old bytes back, which are kept in ${journal}`
  failWith(editCodes.interrupted, { file: name, message })
}
