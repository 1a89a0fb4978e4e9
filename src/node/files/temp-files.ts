// The hidden files that a run keeps beside its targets: temporary files and journals.
//
// A process that ends early removes them (`node/unfinished.ts`). Only SIGKILL and a power failure leave some behind: their names say which
// process owned them, and the next run that writes to the directory removes those whose process is gone.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { type FileHandle, open as openFile, readlink, realpath, unlink } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { encodeUtf8 } from '../../bytes/index.js'
import { fnv1a32 } from '../../digest/hasher.js'
import { editCodes } from '../../edit/codes.js'
import { callerWord, failWith } from '../../errors/index.js'
import { forgetTemp, trackTemp } from '../unfinished.js'
import { withIoErrors } from './io-error.js'

/** An unused name beside the target: the final rename must stay within one file system. */
export function tempNameFor(target: string): string {
  return hiddenNameFor(target, `${ownerTag()}${randomHex()}.tare-tmp`)
}

/** Where a file waits that is about to be replaced. */
export function asideNameFor(target: string): string {
  return hiddenNameFor(target, `${ownerTag()}${randomHex()}.tare-old`)
}

/** Only keeps parallel runs apart: files are created exclusively, whatever their name. */
const randomHex = (): string =>
  Math.floor(Math.random() * 2 ** 32)
    .toString(16)
    .padStart(8, '0')

const ownerTag = (): string => `${process.pid}-${machineTag()}-`

let machine: string | undefined

/** Process ids are valid on one machine, until it restarts. */
export function machineTag(): string {
  machine ??= fnv1a32(encodeUtf8(`${hostname()} ${bootId()}`))
    .toString(16)
    .padStart(8, '0')
  return machine
}

function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')
  } catch {
    return ''
  }
}

const leftover = /\.(\d+)-([0-9a-f]{8})-[0-9a-f]{8}\.tare-(?:tmp|old)$/
/** The age from which files of unknown processes are removed: those of another machine, or from before a restart. */
const oldestMs = 7 * 24 * 3600_000

/** Whether a file with this name was left behind by a process that is gone. */
export function isLeftover(directory: string, name: string): boolean {
  const [, id, tag] = leftover.exec(name) ?? []
  if (!name.startsWith('.') || id === undefined) return false
  if (tag === machineTag()) return !isRunning(Number(id))
  const stats = statSync(join(directory, name), { throwIfNoEntry: false })
  return stats !== undefined && Date.now() - stats.mtimeMs > oldestMs
}

export function isRunning(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export interface TempFile {
  readonly handle: FileHandle
  readonly path: string
  remove(): Promise<void>
}

/** A temporary file that only its owner may read, and that is removed when the process ends. */
export async function openTemp(name: string, directory = tmpdir()): Promise<TempFile> {
  const path = tempNameFor(join(directory, name))
  const handle = await withIoErrors(path, () => openFile(path, 'wx+', 0o600))
  trackTemp(path)
  const remove = async (): Promise<void> => {
    await unlink(path).catch(() => {})
    forgetTemp(path)
  }
  return { handle, path, remove }
}

// Names beside a target, and the journals that interrupted runs leave there.

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
