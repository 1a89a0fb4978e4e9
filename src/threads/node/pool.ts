import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { threadCosts } from '../costs.js'
import { ThreadPool, type WorkerPool } from '../index.js'
import type { Answer } from '../messages.js'
import type { Thread, ThreadEvents } from '../thread-pool.js'

/** How many threads there are. */
export interface PoolOptions {
  /** Default: one per core. */
  readonly threads?: number | undefined
}

/** The worker's file: beside this one, or beside the folder of the bundle that includes this one. */
export function workerUrl(): URL | undefined {
  return ['./worker.js', '../threads/node/worker.js']
    .map((place) => new URL(place, import.meta.url))
    .find((url) => url.protocol === 'file:' && existsSync(fileURLToPath(url)))
}

/**
 * Threads for work that can be divided. None is started before there is work, and they do not keep the process alive. Undefined if there
 * should be only one thread.
 */
export function openPool(options: PoolOptions = {}): WorkerPool | undefined {
  const threads = options.threads ?? availableParallelism()
  const url = threads > 1 ? workerUrl() : undefined
  return url && new ThreadPool(threads, threadCosts.start, (events) => startWorker(url, events))
}

/** Threads work in windows and make little garbage: less room for it keeps the memory of many threads small. */
const maxYoungGenerationSizeMb = 2

/** Runs a file as a thread of a pool. */
export function startWorker(url: URL, events: ThreadEvents): Thread {
  const worker = new Worker(url, { resourceLimits: { maxYoungGenerationSizeMb } })
  let why = 'the worker ended'
  let isEnding = false
  worker.on('message', (answer: Answer) => events.answer(answer))
  worker.on('error', (error) => {
    why = `the worker failed: ${error instanceof Error ? error.message : String(error)}`
  })
  worker.on('exit', () => events.ended(why))
  // After the listeners: a message listener keeps the process alive.
  worker.unref()
  return {
    post: (request) => worker.postMessage(request),
    hold: (isBusy) => (isBusy || isEnding ? worker.ref() : worker.unref()),
    async end() {
      // Otherwise the process may end before the thread does, and the caller would wait forever. An answer may still arrive.
      isEnding = true
      worker.ref()
      await worker.terminate()
    },
  }
}
