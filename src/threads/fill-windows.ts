// Bytes produced by other threads, piece by piece, into reused windows. Transferring memory between threads would allocate every piece, and
// engines run the garbage collector after some tens of megabytes.
import type { Job, JobContext, JobHandler, WorkerPool } from './job.js'
import { runInOrder } from './run-jobs.js'
import { canShareMemory, releaseSharedWindow, takeSharedWindow } from './shared-window.js'

export interface Filling {
  readonly count: number
  /** The length of a piece; none is longer than the first. */
  lengthOf(place: number): number
  /** The job that produces a piece, with a handler from `fillsWindow`. */
  job(place: number): Omit<Job, 'window'>
  /** How many pieces are being produced or waiting at once. */
  readonly ahead: number
  readonly signal?: AbortSignal | undefined
}

/** The pieces in order. Each is valid until the next is requested. */
export async function* fillWindows(pool: WorkerPool, filling: Filling): AsyncGenerator<Uint8Array, void, void> {
  const { count, signal } = filling
  const ahead = Math.min(filling.ahead, count)
  const size = count > 0 ? filling.lengthOf(0) : 0
  // One more than the pieces in progress: a window is reused only after its piece has been consumed.
  const windows = canShareMemory() ? Array.from({ length: ahead + 1 }, () => takeSharedWindow(size)) : []
  const windowOf = (place: number): Uint8Array | undefined =>
    windows[place % windows.length]?.subarray(0, filling.lengthOf(place))
  function* jobs(): Generator<Job, void, void> {
    for (let place = 0; place < count; place++) {
      const job = filling.job(place)
      yield {
        ...job,
        data: { data: job.data, length: filling.lengthOf(place) } satisfies Piece,
        window: windowOf(place),
      }
    }
  }
  let place = 0
  try {
    for await (const made of runInOrder(pool, jobs(), { signal, ahead })) {
      yield windowOf(place++) ?? (made as Uint8Array)
    }
  } finally {
    for (const window of windows) releaseSharedWindow(window) // no job is running any more
  }
}

interface Piece {
  readonly data: unknown
  readonly length: number
}

type Fill = (data: unknown, bytes: Uint8Array, context: JobContext) => Promise<void>

/** Runs in a worker. The window still has its previous content. */
export const fillsWindow =
  (fill: Fill): JobHandler =>
  async (piece, window, context) => {
    const { data, length } = piece as Piece
    const bytes = window ?? new Uint8Array(length)
    await fill(data, bytes, context)
    return window ? undefined : bytes
  }
