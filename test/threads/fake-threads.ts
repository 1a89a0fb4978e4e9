// Threads that are none: workers that run in the thread of the test, one message later. What they do is counted.
import { BlobSource, type SourceHandle } from '../../src/bytes/index.js'
import { type JobHandler, jobKinds, serveJobs, ThreadPool } from '../../src/threads/index.js'
import type { Request } from '../../src/threads/messages.js'

export interface FakePool extends ThreadPool {
  readonly started: () => number
  readonly ended: () => number
  /** Whether threads hold the process. */
  readonly held: () => number
  /** Ends the thread that was started first, as if it had crashed. */
  readonly kill: (why: string) => void
}

export function openHandle(handle: SourceHandle): BlobSource {
  if (handle.kind !== 'blob') throw new Error('these threads read blobs')
  return new BlobSource(handle.blob, handle.name)
}

export function fakePool(
  threads: number,
  kinds: Readonly<Record<string, JobHandler>> = jobKinds,
  startCost = 0,
): FakePool {
  const deaths: ((why: string) => void)[] = []
  const busy = new Set<object>()
  let ended = 0
  const pool = new ThreadPool(threads, startCost, (events) => {
    let take: (request: Request) => void = () => {}
    let isAlive = true
    serveJobs(
      {
        post: (answer) => void queueMicrotask(() => isAlive && events.answer(answer)),
        listen: (listener) => {
          take = listener
        },
      },
      kinds,
      openHandle,
    )
    const thread = {
      post: (request: Request) => void setImmediate(() => isAlive && take(request)),
      hold: (isBusy: boolean) => void (isBusy ? busy.add(thread) : busy.delete(thread)),
      end: async () => {
        isAlive = false
        ended++
      },
    }
    deaths.push((why) => {
      isAlive = false
      busy.delete(thread)
      events.ended(why)
    })
    return thread
  })
  return Object.assign(pool, {
    started: () => deaths.length,
    ended: () => ended,
    held: () => busy.size,
    kill: (why: string) => deaths[0]!(why),
  })
}
