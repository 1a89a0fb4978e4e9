// Changes a file without writing its weights again, so that whatever happens the old file or the new one is there.
//
// File systems that share blocks between files (Btrfs, XFS, APFS, ...) make a copy at no cost; it is patched and takes the place of the
// file. On all others the file is patched where it is, while a journal keeps the old bytes.
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
import type { FilePatch } from '../../edit/index.js'
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
import { forgetTemp, removeQuietly, tempNameFor, trackTemp } from './temp-files.js'

export type PatchedHow = 'cloned' | 'patched'

export interface PatchFileOptions {
  /** False: do not try to make a copy that shares its blocks. */
  readonly clone?: boolean
}

/** `source` is the file, open for reading, from which the patch was made: it must not have changed since. */
export async function patchFile(
  source: FileSource,
  patch: FilePatch,
  { clone = true }: PatchFileOptions = {},
): Promise<PatchedHow> {
  const target = await realpath(source.path)
  const records = await recordsOf(source, patch)
  await source.assertUnchanged()
  // From here on nothing waits, so that no signal handler can run before all is done.
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

/** What changes, with the old bytes; a tail that is cut off is a change as well. */
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
    // Whatever the reason, the file is as it was, and there is another way.
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
    // it stays with whoever edits it, as any new file does
  }
}
