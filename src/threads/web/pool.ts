import { threadCosts } from '../costs.js'
import { ThreadPool, type WorkerPool } from '../index.js'
import type { Answer } from '../messages.js'
import type { Thread, ThreadEvents } from '../thread-pool.js'

/** How many Web Workers there are, and how they are started. */
export interface WebPoolOptions {
  /** Default: one per core. */
  readonly threads?: number | undefined
  /** Creates a worker that runs `tare/web-worker`, for bundlers that do not find that file themselves. */
  readonly startWorker?: (() => Worker) | undefined
}

/** Web Workers for work that can be divided. Undefined if there are none, or there should be only one thread. */
export function openWebPool(options: WebPoolOptions = {}): WorkerPool | undefined {
  const threads = options.threads ?? globalThis.navigator?.hardwareConcurrency ?? 1
  if (threads < 2 || typeof Worker === 'undefined') return undefined
  // Bundlers look for exactly this expression.
  const startBeside = (): Worker => new Worker(new URL('./web-worker.js', import.meta.url), { type: 'module' })
  const start = options.startWorker ?? startBeside
  return new ThreadPool(threads, threadCosts.webStart, (events) => threadOf(start(), events))
}

function threadOf(worker: Worker, events: ThreadEvents): Thread {
  const fail = (why: string): void => {
    worker.terminate()
    events.ended(why)
  }
  worker.addEventListener('message', (event: MessageEvent<Answer>) => events.answer(event.data))
  worker.addEventListener('messageerror', () => fail('the worker gave an answer that cannot be read'))
  // If the file cannot be loaded, the event has no message.
  worker.addEventListener('error', ({ message }) =>
    fail(`the worker failed: ${message ?? 'its file cannot be loaded'}`),
  )
  return {
    post: (request) => worker.postMessage(request),
    hold() {}, // pages do not end when idle
    end: async () => worker.terminate(),
  }
}
