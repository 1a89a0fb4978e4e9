// Changes a file without writing its weights again, so that either the old or the new file exists at any time.
//
// File systems that share blocks between files (Btrfs, XFS, APFS, ...) copy for free; the copy is patched and replaces the file. On others
// the file is patched in place, while a journal keeps the old bytes.
import {
  closeSync,
  constants,
  copyFileSync,
  fchownSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { FilePatch } from '../../edit/index.js'
import { forgetTemp, removeQuietly, trackTemp } from '../unfinished.js'
import {
  type JournalRecord,
  recoverEdit,
  removeJournal,
  syncDirectoryOf,
  writeAt,
  writeJournal,
} from './edit-journal.js'
import type { FileSource } from './file-source.js'
import { ioError } from './io-error.js'
import { tidyDirectory } from './replace-files.js'
import { tempNameFor } from './temp-files.js'

export type PatchedHow = 'cloned' | 'patched'

export interface PatchFileOptions {
  /** False: do not try a copy that shares blocks. */
  readonly clone?: boolean
}

/** `source` is the open file from which the patch was made: it must not have changed since. */
export async function patchFile(
  source: FileSource,
  patch: FilePatch,
  { clone = true }: PatchFileOptions = {},
): Promise<PatchedHow> {
  const target = await realpath(source.path)
  const records = await recordsOf(source, patch)
  await source.assertUnchanged()
  tidyDirectory(dirname(target)) // what killed runs left
  // Synchronous from here on, so that no signal handler can run before everything is done.
  try {
    if (clone && patchClone(target, patch)) return 'cloned'
    const journal = writeJournal(target, { oldSize: source.size, newSize: patch.size, records })
    applyPatch(target, patch)
    removeJournal(journal)
    return 'patched'
  } catch (error) {
    await recoverEdit(target)
    throw ioError(error, source.name)
  }
}

/** The changes, with the old bytes; a truncated tail is a change as well. */
async function recordsOf(source: FileSource, { patches, size }: FilePatch): Promise<JournalRecord[]> {
  const records: JournalRecord[] = []
  for (const { offset, bytes } of patches) {
    const known = Math.max(0, Math.min(bytes.byteLength, source.size - offset))
    records.push({ offset, old: await source.read(Math.min(offset, source.size), known), new: bytes })
  }
  if (size < source.size) {
    const old = await source.read(size, source.size - size)
    records.push({ offset: size, old, new: new Uint8Array(0) })
  }
  return records
}

function patchClone(target: string, patch: FilePatch): boolean {
  const temp = tempNameFor(target)
  trackTemp(temp)
  try {
    copyFileSync(target, temp, constants.COPYFILE_EXCL + constants.COPYFILE_FICLONE_FORCE)
    applyPatch(temp, patch, target)
    renameSync(temp, target)
    syncDirectoryOf(target)
    return true
  } catch {
    // Whatever the reason, the file is unchanged, and there is another way.
    removeQuietly(temp)
    return false
  } finally {
    forgetTemp(temp)
  }
}

function applyPatch(path: string, { patches, size }: FilePatch, ownedLike?: string): void {
  const file = openSync(path, 'r+')
  try {
    if (ownedLike !== undefined) takeOver(file, ownedLike)
    for (const { offset, bytes } of patches) writeAt(file, bytes, offset)
    ftruncateSync(file, size)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function takeOver(file: number, old: string): void {
  const { uid, gid } = statSync(old)
  try {
    fchownSync(file, uid, gid)
  } catch {
    // it belongs to the user who edits it, like any new file
  }
}
