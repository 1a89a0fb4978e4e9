// The pool's side. Threads are started when there is work for them, up to the requested number, and each runs one job at a time. What a
// thread is depends on the environment; here it takes requests, sends answers and may end.
import { checkAborted } from '../bytes/index.js'
import { type Code, findingOf, ioCodes, TareError } from '../errors/index.js'
import { poolCodes } from './codes.js'
import { threadCosts } from './costs.js'
import type { Job, RunOptions, WorkerPool } from './job.js'
import type { Answer, Request } from './messages.js'

export interface Thread {
  post(request: Request): void
  /** Keeps the process alive while there is work, and lets it end otherwise. */
  hold(isBusy: boolean): void
  end(): Promise<void>
}

export interface ThreadEvents {
  answer(answer: Answer): void
  /** The thread ended unexpectedly. */
  ended(why: string): void
}

export type StartThread = (events: ThreadEvents) => Thread

interface Task {
  readonly job: Job
  readonly options: RunOptions
  readonly cancelled: Int32Array | undefined
  resolve(result: unknown): void
  reject(error: TareError): void
}

/** The jobs that a signal cancels. */
interface Watched {
  readonly tasks: Set<Task>
  forget(): void
}

/** A thread and its current job. */
interface Seat {
  readonly thread: Thread
  /** Not one of the pool's regular threads; see `runApart`. */
  readonly isApart: boolean
  task: Task | undefined
  /** The thread has started. */
  isReady: boolean
}

/** More than processors have cores; each thread, and its work, takes memory. */
export const maxThreads = 256

export class ThreadPool implements WorkerPool {
  readonly threads: number
  readonly #startCost: number
  readonly #start: StartThread
  readonly #queue: Task[] = []
  readonly #seats = new Set<Seat>()
  readonly #watched = new Map<AbortSignal, Watched>()
  #isClosed = false

  constructor(threads: number, startCost: number, start: StartThread) {
    this.threads = Math.min(threads, maxThreads)
    this.#startCost = startCost
    this.#start = start
  }

  get startCost(): number {
    return this.#costOf(false, this.threads - 1)
  }

  get apartCost(): number {
    return this.#costOf(true, 1)
  }

  /** Once this many threads are running, smaller work is worth it too. */
  #costOf(isApart: boolean, count: number): number {
    const there = [...this.#seats].filter((seat) => seat.isReady && seat.isApart === isApart)
    return there.length >= count ? this.#startCost * threadCosts.runningShare : this.#startCost
  }

  prepare(): void {
    try {
      while (!this.#isClosed && !this.#hasThreads(this.threads - 1)) this.#open(false)
    } catch {
      // Reported to the caller that next needs a thread.
    }
  }

  run(job: Job, options: RunOptions = {}): Promise<unknown> {
    return this.#begin(job, options, (task) => {
      this.#queue.push(task)
      this.#assign()
    })
  }

  runApart(job: Job, options: RunOptions = {}): Promise<unknown> {
    return this.#begin(job, options, (task) => {
      try {
        this.#give(this.#freeSeat(true) ?? this.#open(true), task)
      } catch (error) {
        this.#refuse(task, error)
      }
    })
  }

  #begin(job: Job, options: RunOptions, start: (task: Task) => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw failure(poolCodes.closed, job, 'the pool is closed')
      checkAborted(options.signal, job.file)
      const task: Task = { job, options, cancelled: options.signal && sharedFlag(), resolve, reject }
      this.#watch(task)
      start(task)
    })
  }

  /** One listener per signal for all its jobs: there can be thousands. */
  #watch(task: Task): void {
    const { signal } = task.options
    if (!signal) return
    const watched = this.#watched.get(signal)
    if (watched) {
      watched.tasks.add(task)
      return
    }
    const tasks = new Set([task])
    const onAbort = (): void => {
      // Waiting jobs come first, so that none of them starts in the place of a running one.
      for (const each of [...tasks].reverse()) this.#cancel(each)
    }
    signal.addEventListener('abort', onAbort)
    this.#watched.set(signal, { tasks, forget: () => signal.removeEventListener('abort', onAbort) })
  }

  /** To be called for every task when it ends. */
  #unwatch(task: Task): Task {
    const { signal } = task.options
    const watched = signal && this.#watched.get(signal)
    if (watched?.tasks.delete(task) && watched.tasks.size === 0) {
      watched.forget()
      this.#watched.delete(signal!)
    }
    return task
  }

  #assign(): void {
    while (this.#queue.length > 0) {
      let seat: Seat | undefined
      try {
        seat = this.#freeSeat(false) ?? (this.#hasThreads(this.threads) ? undefined : this.#open(false))
      } catch (error) {
        this.#refuse(this.#queue.shift()!, error)
        continue
      }
      if (!seat) return
      this.#give(seat, this.#queue.shift()!)
    }
  }

  #freeSeat(isApart: boolean): Seat | undefined {
    return [...this.#seats].find((each) => !each.task && each.isApart === isApart)
  }

  /** Separate threads do not count. */
  #hasThreads(count: number): boolean {
    return [...this.#seats].filter(({ isApart }) => !isApart).length >= count
  }

  #give(seat: Seat, task: Task): void {
    seat.task = task
    seat.thread.hold(true)
    seat.thread.post({ job: task.job, cancelled: task.cancelled })
  }

  #refuse(task: Task, error: unknown): void {
    const why = `no worker can be started: ${(error as Error).message}`
    this.#unwatch(task).reject(failure(poolCodes['worker-died'], task.job, why))
  }

  #open(isApart: boolean): Seat {
    const seat: Seat = {
      task: undefined,
      isReady: false,
      isApart,
      thread: this.#start({
        answer: (answer) => this.#answer(seat, answer),
        ended: (why) => this.#lose(seat, why),
      }),
    }
    this.#seats.add(seat)
    return seat
  }

  #answer(seat: Seat, answer: Answer): void {
    const { task } = seat
    if (answer.type === 'ready') seat.isReady = true
    if (!task || answer.type === 'ready') return
    if (answer.type === 'advance') {
      task.options.onAdvance?.(answer.bytes)
      return
    }
    seat.task = undefined
    seat.thread.hold(false)
    this.#unwatch(task)
    if (task.options.signal?.aborted) task.reject(aborted(task))
    else if (answer.type === 'result') {
      if (answer.bytes > 0) task.options.onAdvance?.(answer.bytes)
      task.resolve(answer.result)
    } else task.reject(new TareError(answer.finding))
    this.#assign()
  }

  #lose(seat: Seat, why: string): void {
    if (!this.#seats.delete(seat)) return
    if (seat.task) this.#unwatch(seat.task).reject(failure(poolCodes['worker-died'], seat.task.job, why))
    this.#assign()
  }

  /** A waiting job is removed. A running one is signalled; without shared memory, its thread is terminated. */
  #cancel(task: Task): void {
    const place = this.#queue.indexOf(task)
    if (place >= 0) {
      this.#queue.splice(place, 1)
      this.#unwatch(task).reject(aborted(task))
    } else if (task.cancelled) Atomics.store(task.cancelled, 0, 1)
    else {
      const seat = [...this.#seats].find((each) => each.task === task)
      if (!seat) return
      this.#seats.delete(seat)
      void seat.thread.end()
      this.#unwatch(task).reject(aborted(task))
      this.#assign()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const seats = [...this.#seats]
    this.#seats.clear()
    const unfinished = [...seats.flatMap(({ task }) => task ?? []), ...this.#queue.splice(0)]
    await Promise.all(seats.map(({ thread }) => thread.end()))
    for (const task of unfinished) {
      this.#unwatch(task).reject(failure(poolCodes.closed, task.job, 'the pool was closed'))
    }
  }
}

function failure(code: Code, { file, offset, kind }: Job, why: string): TareError {
  return new TareError(findingOf(code, { file, offset, path: kind, message: why }))
}

function aborted({ job, options }: Task): TareError {
  const { file, offset } = job
  return new TareError(findingOf(ioCodes.aborted, { file, offset, message: 'cancelled' }), {
    cause: options.signal?.reason,
  })
}

function sharedFlag(): Int32Array | undefined {
  return typeof SharedArrayBuffer === 'undefined' ? undefined : new Int32Array(new SharedArrayBuffer(4))
}
