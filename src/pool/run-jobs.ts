// Many jobs at once, with their results in order.
import type { Job, RunOptions, WorkerPool } from './job.js'

/**
 * Results as they come, in the order of the jobs. The next job is asked for only when a thread will soon be free, so jobs can be made as
 * they are needed; how far ahead is up to `ahead`. Whoever stops early cancels what is under way.
 */
export async function* runInOrder(
  pool: WorkerPool,
  jobs: Iterable<Job> | AsyncIterable<Job>,
  options: RunOptions & { readonly ahead?: number } = {},
): AsyncGenerator<unknown, void, void> {
  const { signal, stop, forget } = stoppable(options.signal)
  const most = options.ahead ?? pool.threads + 1
  const running: Promise<unknown>[] = []
  try {
    for await (const job of jobs) {
      const result = pool.run(job, { ...options, signal })
      result.catch(() => {}) // it is looked at when its turn comes
      running.push(result)
      if (running.length >= most) yield await running.shift()!
    }
    while (running.length > 0) yield await running.shift()!
  } finally {
    stop()
    await Promise.allSettled(running)
    forget()
  }
}

/** A signal that is aborted together with another one, or by itself. */
function stoppable(outer: AbortSignal | undefined): { signal: AbortSignal; stop(): void; forget(): void } {
  const controller = new AbortController()
  const stop = (): void => controller.abort(outer?.reason)
  if (outer?.aborted) stop()
  outer?.addEventListener('abort', stop)
  return { signal: controller.signal, stop, forget: () => outer?.removeEventListener('abort', stop) }
}

interface Shared<R> {
  readonly count: number
  job(place: number): Job
  here(place: number, signal: AbortSignal): Promise<R>
  readonly signal?: AbortSignal | undefined
  readonly onAdvance?: ((bytes: number) => void) | undefined
}

/**
 * All results in order, with this thread as one of those that work: it has no start to wait for. Whoever is done takes the next. When one
 * fails, the others are cancelled.
 */
export async function runShared<R>(pool: WorkerPool, work: Shared<R>): Promise<R[]> {
  const { signal, stop, forget } = stoppable(work.signal)
  const { onAdvance } = work
  const results = new Array<R>(work.count)
  let next = 0
  const takeTurns = async (run: (place: number) => Promise<R>): Promise<void> => {
    for (let place = next++; place < work.count; place = next++) results[place] = await run(place)
  }
  const elsewhere = (place: number): Promise<R> => pool.run(work.job(place), { signal, onAdvance }) as Promise<R>
  const running = [
    ...Array.from({ length: Math.min(pool.threads, work.count) - 1 }, () => takeTurns(elsewhere)),
    takeTurns((place) => work.here(place, signal)),
  ]
  try {
    await Promise.all(running)
    return results
  } catch (error) {
    stop()
    throw error
  } finally {
    await Promise.allSettled(running)
    forget()
  }
}

interface Mixed<T, R> {
  readonly pool: WorkerPool | undefined
  /** Undefined: the item cannot go to another thread. */
  job(item: T): Job | undefined
  here(item: T): R | Promise<R>
  readonly signal?: AbortSignal | undefined
}

interface Items<T> {
  map<R>(change: (item: T) => R): R[]
  entries(): Iterable<[number, T]>
}

/** A result for each item, in order. What cannot go to another thread is done in this one when its turn comes. */
export async function* runMixed<T, R>(items: Items<T>, work: Mixed<T, R>): AsyncGenerator<R, void, void> {
  const { pool, signal } = work
  const jobs = pool ? items.map((item) => work.job(item)) : []
  const running = pool && runInOrder(pool, jobs.filter(isJob), { signal })
  try {
    for (const [i, item] of items.entries())
      yield jobs[i] ? ((await running!.next()).value as R) : await work.here(item)
  } finally {
    await running?.return()
  }
}

const isJob = (job: Job | undefined): job is Job => job !== undefined

/**
 * Whether work that takes this thread so many nanoseconds is done sooner by several. A thread that computes first has to load what it
 * computes with and runs it slowly for a while, which takes some times longer than to start it.
 */
export function isWorthComputing(pool: WorkerPool | undefined, cost: number): pool is WorkerPool {
  return pool !== undefined && cost > 0 && cost >= 8 * pool.startCost
}
