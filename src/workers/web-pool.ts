import type { WorkerPool } from './job.js'
import type { Answer } from './messages.js'
import { type Thread, type ThreadEvents, ThreadPool } from './thread-pool.js'

export interface WebPoolOptions {
  /** All cores, unless it says otherwise. */
  readonly threads?: number | undefined
  /** Makes a worker that runs `pool/web-worker.js` of this package; for pages whose bundler does not find that file by itself. */
  readonly startWorker?: (() => Worker) | undefined
}

/** A guess: the file of the worker is fetched and compiled. */
const startCost = 100e6

/** Web Workers for work that has parts. Undefined where there are none, or one thread is all there should be. */
export function openWebPool(options: WebPoolOptions = {}): WorkerPool | undefined {
  const threads = options.threads ?? globalThis.navigator?.hardwareConcurrency ?? 1
  if (threads < 2 || typeof Worker === 'undefined') return undefined
  // Bundlers look for exactly this expression.
  const usual = (): Worker => new Worker(new URL('./web-worker.js', import.meta.url), { type: 'module' })
  const start = options.startWorker ?? usual
  return new ThreadPool(threads, startCost, (events) => threadOf(start(), events))
}

function threadOf(worker: Worker, events: ThreadEvents): Thread {
  worker.addEventListener('message', (event: MessageEvent<Answer>) => events.answer(event.data))
  worker.addEventListener('messageerror', () => events.ended('the worker gave an answer that cannot be read'))
  worker.addEventListener('error', (event) => {
    worker.terminate()
    events.ended(`the worker failed: ${event.message ?? 'its file cannot be loaded'}`)
  })
  return {
    post: (request) => worker.postMessage(request),
    hold() {}, // pages do not end for want of work
    end: async () => worker.terminate(),
  }
}
