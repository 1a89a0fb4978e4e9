import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { threadCosts } from '../costs.js'
import { ThreadPool, type WorkerPool } from '../index.js'
import type { Answer } from '../messages.js'
import type { Thread, ThreadEvents } from '../thread-pool.js'

export interface PoolOptions {
  /** All cores, unless it says otherwise. */
  readonly threads?: number | undefined
}

/** The file that workers run: beside this one, or beside the folder of a bundle that this one went into. */
export function workerUrl(): URL | undefined {
  return ['./worker.js', '../threads/node/worker.js']
    .map((place) => new URL(place, import.meta.url))
    .find((url) => url.protocol === 'file:' && existsSync(fileURLToPath(url)))
}

/**
 * Threads for work that has parts. None is started before there is something to do, and they do not keep the process alive. Undefined
 * where one thread is all there should be.
 */
export function openPool(options: PoolOptions = {}): WorkerPool | undefined {
  const threads = options.threads ?? availableParallelism()
  const url = threads > 1 ? workerUrl() : undefined
  return url && new ThreadPool(threads, threadCosts.start, (events) => startWorker(url, events))
}

/** Runs a file as a thread of a pool. */
export function startWorker(url: URL, events: ThreadEvents): Thread {
  const worker = new Worker(url)
  let why = 'the worker ended'
  let isEnding = false
  worker.on('message', (answer: Answer) => events.answer(answer))
  worker.on('error', (error) => {
    why = `the worker failed: ${error instanceof Error ? error.message : String(error)}`
  })
  worker.on('exit', () => events.ended(why))
  // Behind the listeners: whoever listens for messages keeps the process alive.
  worker.unref()
  return {
    post: (request) => worker.postMessage(request),
    hold: (isBusy) => (isBusy || isEnding ? worker.ref() : worker.unref()),
    async end() {
      // Otherwise the process may end before the thread has, and whoever waits for it never goes on. An answer may still come.
      isEnding = true
      worker.ref()
      await worker.terminate()
    },
  }
}
