// The side of the worker: takes one job after the other and answers.
import type { ByteSource, SourceHandle } from '../bytes/index.js'
import type { JobHandler } from './job.js'
import { type Answer, findingFor, type Request } from './messages.js'

/** The way to the pool. */
export interface Port {
  /** What is in `moved` is handed over and no longer there afterwards; everything else is copied. */
  post(answer: Answer, moved?: ArrayBuffer[]): void
  listen(take: (request: Request) => void): void
}

/** Progress is told after this many bytes: each message wakes the other thread. */
const tellAfter = 8 << 20

export function serveJobs(
  port: Port,
  kinds: Readonly<Record<string, JobHandler>>,
  open: (handle: SourceHandle) => ByteSource,
): void {
  port.listen(async (request) => {
    const answer = await answerTo(request)
    port.post(answer, answer.type === 'result' ? ownMemory(answer.result) : [])
  })
  port.post({ type: 'ready' })

  async function answerTo({ job, cancelled }: Request): Promise<Answer> {
    const controller = new AbortController()
    let untold = 0
    const advance = (bytes: number): void => {
      if (cancelled && Atomics.load(cancelled, 0) !== 0) controller.abort()
      untold += bytes
      if (untold < tellAfter) return
      port.post({ type: 'advance', bytes: untold })
      untold = 0
    }
    try {
      const handler = Object.hasOwn(kinds, job.kind) ? kinds[job.kind] : undefined
      if (!handler) throw new Error('this worker does not know what to do')
      const result = await handler(job.data, job.window, { signal: controller.signal, advance, open })
      return { type: 'result', result, bytes: untold }
    } catch (error) {
      return { type: 'error', finding: findingFor(error, job) }
    }
  }
}

/** Bytes that are all of their memory, as jobs make them for their result. */
function ownMemory(result: unknown): ArrayBuffer[] {
  if (!(result instanceof Uint8Array) || !(result.buffer instanceof ArrayBuffer)) return []
  return result.byteLength === result.buffer.byteLength ? [result.buffer] : []
}
