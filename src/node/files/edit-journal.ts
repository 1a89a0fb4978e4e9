// While a file is changed in place, a journal beside it keeps its old bytes. If there is a journal, the file may be half old and half new:
// reading is refused, and the next edit puts the old bytes back. The journal is created by a rename, so it is complete or absent; removing
// it, once all new bytes are on disk, completes the edit.
//
// It is one line of JSON, then the old and new bytes of each changed range. A file that holds neither has been replaced since.
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { realpath } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { editCodes } from '../../edit/codes.js'
import { failWith } from '../../errors/index.js'
import { forgetTemp, trackTemp } from '../unfinished.js'
import { ioError } from './io-error.js'
import { syncDirectory } from './replace-files.js'
import { editJournalFor, isRunning, tempNameFor } from './temp-files.js'

/** One changed range. Either side may be shorter, at the end of the file. */
export interface JournalRecord {
  readonly offset: number
  readonly old: Uint8Array
  readonly new: Uint8Array
}

export interface Journal {
  readonly oldSize: number
  readonly newSize: number
  readonly records: readonly JournalRecord[]
}

interface Head {
  readonly journal: 'tare edit 1'
  readonly process: number
  readonly host: string
  readonly oldSize: number
  readonly newSize: number
  readonly records: readonly (readonly [offset: number, oldLength: number, newLength: number])[]
  readonly sha256: string
}

/** An edit takes seconds; an older journal is abandoned, even if a process with its id is running. */
const oldestEdit = 10 * 60_000
const lineFeed = 0x0a

/** Synchronous, like the rest of an edit, so that no signal handler can run in between. */
export function writeJournal(target: string, { oldSize, newSize, records }: Journal): string {
  const body = Buffer.concat(records.flatMap((record) => [record.old, record.new]))
  const head: Head = {
    journal: 'tare edit 1',
    process: process.pid,
    host: hostname(),
    oldSize,
    newSize,
    records: records.map((record) => [record.offset, record.old.byteLength, record.new.byteLength]),
    sha256: sha256Of(body),
  }
  const path = editJournalFor(target)
  const temp = tempNameFor(target)
  const file = openSync(temp, 'wx', 0o600)
  trackTemp(temp)
  try {
    writeAt(file, Buffer.from(`${JSON.stringify(head)}\n`), 0)
    writeAt(file, body, fstatSync(file).size)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(temp, path)
  forgetTemp(temp)
  syncDirectoryOf(path)
  return path
}

export function removeJournal(path: string): void {
  unlinkSync(path)
  syncDirectoryOf(path)
}

/** Restores the old bytes that an interrupted edit left in a journal. False: there is none. */
export async function recoverEdit(name: string): Promise<boolean> {
  const target = await realpath(name).catch(() => name)
  const path = editJournalFor(target)
  try {
    const age = statSync(path, { throwIfNoEntry: false })
    if (!age) return false
    const { head, journal } = parseJournal(readFileSync(path), name)
    if (Date.now() - age.mtimeMs < oldestEdit && isAlive(head)) {
      const message = `process ${head.process}${head.host === hostname() ? '' : ` on ${head.host}`} is editing it`
      failWith(editCodes.busy, { file: name, message })
    }
    putBack(target, name, journal)
    removeJournal(path)
    return true
  } catch (error) {
    throw ioError(error, name)
  }
}

function isAlive({ process: id, host }: Head): boolean {
  if (host !== hostname()) return true
  return id !== process.pid && isRunning(id)
}

function parseJournal(bytes: Buffer, file: string): { head: Head; journal: Journal } {
  const wrong = (): never =>
    failWith(editCodes.journal, { file, message: `${editJournalFor(file)} is not what an edit writes` })
  const end = bytes.indexOf(lineFeed)
  let head: Head
  try {
    head = JSON.parse(bytes.toString('utf8', 0, Math.max(0, end))) as Head
  } catch {
    return wrong()
  }
  const body = bytes.subarray(end + 1)
  const isSound = head.journal === 'tare edit 1' && head.sha256 === sha256Of(body)
  if (!isSound) return wrong()
  const records: JournalRecord[] = []
  let at = 0
  for (const [offset, oldLength, newLength] of head.records) {
    const middle = at + oldLength
    records.push({ offset, old: body.subarray(at, middle), new: body.subarray(middle, middle + newLength) })
    at = middle + newLength
  }
  return { head, journal: { oldSize: head.oldSize, newSize: head.newSize, records } }
}

function putBack(target: string, name: string, { oldSize, newSize, records }: Journal): void {
  const file = openSync(target, 'r+')
  try {
    const { size } = fstatSync(file)
    const isOther =
      size < Math.min(oldSize, newSize) ||
      size > Math.max(oldSize, newSize) ||
      records.some((record) => !isOldOrNew(file, record, size))
    if (isOther) {
      const message = `the file is not the one that was edited; remove ${editJournalFor(target)} if it is as it should be`
      failWith(editCodes.journal, { file: name, message })
    }
    for (const { offset, old } of records) writeAt(file, old, offset)
    ftruncateSync(file, oldSize)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function isOldOrNew(file: number, { offset, old, new: next }: JournalRecord, size: number): boolean {
  const now = new Uint8Array(Math.max(0, Math.min(Math.max(old.byteLength, next.byteLength), size - offset)))
  for (let done = 0; done < now.byteLength; ) {
    const got = readSync(file, now, done, now.byteLength - done, offset + done)
    if (got === 0) return false
    done += got
  }
  // A file that grows has zeros where its new bytes have not been written yet.
  return now.every((byte, i) => byte === old[i] || byte === next[i] || (i >= old.byteLength && byte === 0))
}

export function writeAt(file: number, bytes: Uint8Array, offset: number): void {
  for (let done = 0; done < bytes.byteLength; )
    done += writeSync(file, bytes, done, bytes.byteLength - done, offset + done)
}

/** A removal is durable only once the directory is flushed. */
export const syncDirectoryOf = (path: string): void => syncDirectory(dirname(path))

/** Loaded on demand: it is slow to load, and few commands edit. */
function sha256Of(text: Uint8Array): string {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(text).digest('hex')
}
