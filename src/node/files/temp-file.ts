// A temporary file that only its owner may read, and that is gone when the process ends.
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withIoErrors } from './io-error.js'
import { forgetTemp, tempNameFor, trackTemp } from './temp-files.js'

export interface TempFile {
  readonly handle: FileHandle
  readonly path: string
  remove(): Promise<void>
}

export async function openTemp(name: string, directory = tmpdir()): Promise<TempFile> {
  const path = tempNameFor(join(directory, name))
  const handle = await withIoErrors(path, () => open(path, 'wx+', 0o600))
  trackTemp(path)
  const remove = async (): Promise<void> => {
    await unlink(path).catch(() => {})
    forgetTemp(path)
  }
  return { handle, path, remove }
}
