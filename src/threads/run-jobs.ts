// Runs many jobs at once and returns their results in order.
import type { Job, RunOptions, WorkerPool } from './job.js'

/**
 * Results in the order of the jobs. The next job is taken only when a thread will soon be free, so jobs can be created lazily; `ahead` says
 * how far in advance. Stopping the iteration early cancels running jobs.
 */
export async function* runInOrder(
  pool: WorkerPool,
  jobs: Iterable<Job> | AsyncIterable<Job>,
  options: RunOptions & { readonly ahead?: number } = {},
): AsyncGenerator<unknown, void, void> {
  const { signal, stop, forget } = stoppable(options.signal)
  const maxRunning = options.ahead ?? pool.threads + 1
  const running: Promise<unknown>[] = []
  try {
    for await (const job of jobs) {
      const result = pool.run(job, { ...options, signal })
      result.catch(() => {}) // handled when it is awaited
      running.push(result)
      if (running.length >= maxRunning) yield await running.shift()!
    }
    while (running.length > 0) yield await running.shift()!
  } finally {
    stop()
    await Promise.allSettled(running)
    forget()
  }
}

/** A signal that is aborted together with `outer`, or by `stop`. */
export function stoppable(outer: AbortSignal | undefined): { signal: AbortSignal; stop(): void; forget(): void } {
  const controller = new AbortController()
  const stop = (): void => controller.abort(outer?.reason)
  if (outer?.aborted) stop()
  outer?.addEventListener('abort', stop)
  return { signal: controller.signal, stop, forget: () => outer?.removeEventListener('abort', stop) }
}
