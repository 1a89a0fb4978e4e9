// BLAKE3 of bytes that are produced on the fly, such as decoded or reordered ones: this thread produces them, and others hash them, window
// by window, as subtrees.
import { joinBytes } from '../../bytes/index.js'
import { joinSubtreeValues } from '../../digest/subtree.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { minThreadBytes } from '../costs.js'
import type { Job, WorkerPool } from '../job.js'
import { subtreeJob } from '../kinds.js'
import { runInOrder } from '../run-jobs.js'
import { canShareMemory, releaseSharedWindow, takeSharedWindow } from '../shared-window.js'

/** A power of two, as subtrees require. */
const window = 4 << 20

export const isWorthThreads = (byteLength: number, pool: WorkerPool | undefined): pool is WorkerPool =>
  pool !== undefined && !pool.isRemote && pool.threads > 1 && byteLength >= minThreadBytes.digest && canShareMemory()

/** Produces bytes: every chunk but the last has exactly the size of a window, and is valid until the next is requested. */
export interface Chunked {
  readonly byteLength: number
  chunks(window: number, signal?: AbortSignal): AsyncIterable<Uint8Array>
}

export interface ChunkedOptions {
  readonly pool: WorkerPool
  /** The name used in errors. */
  readonly file: string
  readonly signal?: AbortSignal | undefined
  readonly onAdvance?: ((bytes: number) => void) | undefined
}

/** The digest of more than one window of bytes. */
export async function digestChunks(
  payload: Chunked,
  { pool, file, signal, onAdvance }: ChunkedOptions,
): Promise<Uint8Array> {
  const ahead = Math.min(pool.threads + 1, Math.ceil(payload.byteLength / window))
  // One more than the running jobs: when a window is filled again, its previous job is done.
  const windows = Array.from({ length: ahead + 1 }, () => takeSharedWindow(window))
  let length = 0
  async function* jobs(): AsyncGenerator<Job, void, void> {
    let count = 0
    for await (const chunk of payload.chunks(window, signal)) {
      const place = windows[count++ % windows.length]!.subarray(0, chunk.byteLength)
      place.set(chunk)
      yield subtreeJob(place, length / 1024, file)
      length += chunk.byteLength
    }
  }
  const values: Uint8Array[] = []
  try {
    for await (const value of runInOrder(pool, jobs(), { ahead, signal, onAdvance })) values.push(value as Uint8Array)
  } finally {
    for (const each of windows) releaseSharedWindow(each)
  }
  if (length !== payload.byteLength || values.length < 2) {
    failWith(ioCodes['short-read'], { file, message: `${length} bytes of ${payload.byteLength} came` })
  }
  return joinSubtreeValues(joinBytes(values))
}
