// The worker's side: takes one job at a time and answers.
import type { ByteSource, SourceHandle } from '../bytes/index.js'
import type { JobHandler } from './job.js'
import { type Answer, findingFor, type Request } from './messages.js'

/** The connection to the pool. */
export interface Port {
  /** `moved` buffers are transferred; everything else is copied. */
  post(answer: Answer, moved?: ArrayBuffer[]): void
  listen(take: (request: Request) => void): void
}

/** Progress is reported after this many bytes: each message wakes the other thread. */
const reportAfter = 8 << 20

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
    let unreported = 0
    const advance = (bytes: number): void => {
      if (cancelled && Atomics.load(cancelled, 0) !== 0) controller.abort()
      unreported += bytes
      if (unreported < reportAfter) return
      port.post({ type: 'advance', bytes: unreported })
      unreported = 0
    }
    try {
      const handler = Object.hasOwn(kinds, job.kind) ? kinds[job.kind] : undefined
      if (!handler) throw new Error('this worker does not know what to do')
      const result = await handler(job.data, job.window, { signal: controller.signal, advance, open })
      return { type: 'result', result, bytes: unreported }
    } catch (error) {
      return { type: 'error', finding: findingFor(error, job) }
    }
  }
}

/** A result that fills its buffer can be transferred. */
function ownMemory(result: unknown): ArrayBuffer[] {
  if (!(result instanceof Uint8Array) || !(result.buffer instanceof ArrayBuffer)) return []
  return result.byteLength === result.buffer.byteLength ? [result.buffer] : []
}
