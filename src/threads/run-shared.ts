// Shares the parts of one task among all threads, including this one, which need not be started (other machines do it alone). Each takes the next part when it is free;
// results are returned in the order of the parts.
import type { Job, WorkerPool } from './job.js'
import { stoppable } from './run-jobs.js'

export interface Shared<R> {
  readonly count: number
  /** Undefined if the part cannot go to another thread. */
  job(place: number): Job | undefined
  here(place: number, signal: AbortSignal): R | Promise<R>
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes other threads have processed, as they proceed. */
  readonly onAdvance?: ((bytes: number) => void) | undefined
}

/** How many results may wait to be consumed. */
const maxAhead = 1024

type Outcome<R> = { readonly result: R } | { readonly error: unknown }

/**
 * Results in order, as soon as they are known. After an error no new part is started. The error is thrown at once or, to be the same for
 * any number of threads, in order. Stopping the iteration early cancels running parts.
 */
async function* share<R>(pool: WorkerPool, work: Shared<R>, failsAtOnce: boolean): AsyncGenerator<R, void, void> {
  const { signal, stop, forget } = stoppable(work.signal)
  const outcomes = new Map<number, Outcome<R>>()
  const bell = createBell()
  let next = 0
  let end = work.count
  let consumed = 0
  let failure: Outcome<R> | undefined
  const doParts = async (run: (place: number) => R | Promise<R>): Promise<void> => {
    while (next < end) {
      if (next - consumed >= maxAhead) {
        await bell.rung()
        continue
      }
      const place = next++
      const outcome = await settled(() => run(place))
      if ('error' in outcome) end = Math.min(end, place)
      if ('error' in outcome && failsAtOnce) failure ??= outcome
      outcomes.set(place, outcome)
      bell.ring()
    }
  }
  const here = (place: number): R | Promise<R> => work.here(place, signal)
  const elsewhere = (place: number): R | Promise<R> => {
    const job = work.job(place)
    if (job) return pool.run(job, { signal, onAdvance: work.onAdvance }) as Promise<R>
    return pool.isRemote ? inTurn(() => here(place)) : here(place)
  }
  const inTurn = oneByOne()
  const others = Math.min(pool.threads, work.count) - (pool.isRemote ? 0 : 1)
  const running = Array.from({ length: others }, () => doParts(elsewhere))
  if (!pool.isRemote) running.push(doParts(here))
  try {
    while (consumed < work.count) {
      const outcome = failure ?? outcomes.get(consumed)
      if (!outcome) await bell.rung()
      else if ('error' in outcome) throw outcome.error
      else {
        outcomes.delete(consumed++)
        bell.ring()
        yield outcome.result
      }
    }
  } finally {
    end = 0
    bell.ring()
    stop()
    await Promise.allSettled(running)
    forget()
  }
}

/** All results. */
export async function runShared<R>(pool: WorkerPool, work: Shared<R>): Promise<R[]> {
  const results: R[] = []
  for await (const result of share(pool, work, true)) results.push(result)
  return results
}

interface Mixed<T, R> {
  readonly pool: WorkerPool | undefined
  job(item: T): Job | undefined
  here(item: T, signal: AbortSignal | undefined): R | Promise<R>
  readonly signal?: AbortSignal | undefined
  readonly onAdvance?: ((bytes: number) => void) | undefined
}

/** A result for each item, in order; computed by this thread alone if there is no pool. */
export async function* runMixed<T, R>(items: readonly T[], work: Mixed<T, R>): AsyncGenerator<R, void, void> {
  const { pool, signal, onAdvance } = work
  const count = items.length
  if (pool) {
    const job = (place: number): Job | undefined => work.job(items.at(place)!)
    const here = (place: number, stop: AbortSignal): R | Promise<R> => work.here(items.at(place)!, stop)
    yield* share(pool, { count, job, here, signal, onAdvance }, false)
  } else for (let place = 0; place < count; place++) yield await work.here(items.at(place)!, signal)
}

/** What only this machine can do, it does one by one: there may be a thousand others that wait. */
export function oneByOne(): <R>(work: () => R | Promise<R>) => Promise<R> {
  let turn: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = turn.then(work)
    turn = mine.catch(() => {})
    return mine
  }
}

async function settled<R>(run: () => R | Promise<R>): Promise<Outcome<R>> {
  try {
    return { result: await run() }
  } catch (error) {
    return { error }
  }
}

/** Wakes everything that waits for it. */
function createBell(): { rung(): Promise<void>; ring(): void } {
  let wake = (): void => {}
  let waiting: Promise<void> | undefined
  return {
    rung() {
      waiting ??= new Promise((resolve) => {
        wake = resolve
      })
      return waiting
    },
    ring() {
      waiting = undefined
      wake()
    },
  }
}
