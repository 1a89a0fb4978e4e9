// Bytes that other threads make, piece by piece, in windows that are used again. Memory that is handed over from thread to thread would be
// new for every piece, and engines collect garbage each time some tens of megabytes of it have come together.
import type { Job, JobContext, JobHandler, WorkerPool } from './job.js'
import { runInOrder } from './run-jobs.js'
import { canShareMemory, releaseSharedWindow, takeSharedWindow } from './shared-window.js'

export interface Filling {
  readonly count: number
  /** The bytes of a piece; none has more than the first. */
  lengthOf(place: number): number
  /** What makes a piece, by a handler from `fillsWindow`. */
  job(place: number): Omit<Job, 'window'>
  /** So many pieces are made or wait at once. */
  readonly ahead: number
  readonly signal?: AbortSignal | undefined
}

/** The pieces in order. Each is valid until the next is asked for. */
export async function* fillWindows(pool: WorkerPool, filling: Filling): AsyncGenerator<Uint8Array, void, void> {
  const { count, signal } = filling
  const ahead = Math.min(filling.ahead, count)
  const size = count > 0 ? filling.lengthOf(0) : 0
  // One more than there are pieces under way: a window is taken again only when its piece has been given out and used.
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
    for (const window of windows) releaseSharedWindow(window) // no job runs any more
  }
}

interface Piece {
  readonly data: unknown
  readonly length: number
}

type Fill = (data: unknown, bytes: Uint8Array, context: JobContext) => Promise<void>

/** The other side. The bytes to be filled have had other content before. */
export const fillsWindow =
  (fill: Fill): JobHandler =>
  async (given, window, context) => {
    const { data, length } = given as Piece
    const bytes = window ?? new Uint8Array(length)
    await fill(data, bytes, context)
    return window ? undefined : bytes
  }
