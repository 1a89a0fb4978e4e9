// What a run must not leave behind when it ends early: temporary files, and outputs that are being uploaded. Files are removed
// synchronously, which works while the process exits. Giving an upload up takes requests, and nobody else would do it.
import { EventEmitter } from 'node:events'
import { unlinkSync } from 'node:fs'
import type { S3Sink } from '../remote/s3/sink.js'

/** How many there are at present. */
export interface UnfinishedCounts {
  readonly files: number
  readonly uploads: number
}

const files = new Set<string>()
const uploads = new Set<S3Sink>()
let isHooked = false

/** Says when the counts change. */
export const unfinished = new EventEmitter<{ change: [UnfinishedCounts] }>()

const tell = (): boolean => unfinished.emit('change', { files: files.size, uploads: uploads.size })

export function trackTemp(path: string): void {
  if (!isHooked) process.once('exit', removeOpenTemps)
  isHooked = true
  files.add(path)
  tell()
}

export function forgetTemp(path: string): void {
  files.delete(path)
  tell()
}

/** Removes all temporary files, synchronously. */
export function removeOpenTemps(): void {
  for (const path of files) removeQuietly(path)
  files.clear()
}

export function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // already gone, or no longer ours to remove
  }
}

/** Until it is complete or given up. */
export function trackUpload(sink: S3Sink): void {
  uploads.add(sink)
  tell()
  void sink.ended.then(() => {
    uploads.delete(sink)
    tell()
  })
}

/** Gives all of them up; those that are to be continued later stay in the store. */
export async function abortUploads(): Promise<void> {
  await Promise.allSettled([...uploads].map((sink) => sink.abort()))
}
