// The workers of a queue as threads. What verbs that only read spread over threads (digests of ranges, statistics, comparisons) is plain data
// with the places of its sources, so other machines can do it; the results are put together here, and are the same.
import { randomBytes, randomUUID } from 'node:crypto'
import type { ByteSource, SourceHandle } from '../../bytes/index.js'
import { type Finding, ioCodes, TareError } from '../../errors/index.js'
import { refuseSecrets } from '../../jobs/secrets.js'
import { type Job, oneByOne, type RunOptions, type WorkerPool } from '../../threads/index.js'
import { openHandle } from '../../threads/node/worker-source.js'
import { workerJobs } from '../../threads/worker-jobs.js'
import { handOver, nextAnswer, type Watching, watchAnswers } from './answers.js'
import { openQueue, openTasks, type Queue, taskStream, taskSubject } from './connection.js'
import type { OutcomeMessage } from './messages.js'
import { fromPlain, toPlain, Unsendable } from './plain.js'
import { sharedAddress, sharedSource } from './shared-source.js'

export interface QueuePoolOptions {
  readonly signal?: AbortSignal | undefined
  /** Told once when no worker has answered for a while. */
  readonly onWaiting?: ((queue: string) => void) | undefined
}

/** Nanoseconds for sending a task and its answer. */
const startCost = 5e5
/** Tasks in flight: enough for all workers that wait, and for some that come later. */
const minTasks = 8
const maxTasks = 2048
/** After this long without an answer the user is told, and tasks that the queue has lost are handed out again. */
const patience = 20_000
const lostAfter = 10_000
const lookEvery = 2000
/** The number of workers that may fail at a task, one after the other, before that is the answer. */
const maxTroubles = 5

interface Waiting {
  readonly job: Job
  readonly options: RunOptions
  readonly data: unknown
  troubles: number
  resolve(result: unknown): void
  reject(error: unknown): void
}

export class QueuePool implements WorkerPool {
  readonly threads: number
  readonly isRemote = true
  readonly startCost = startCost
  readonly apartCost = Number.POSITIVE_INFINITY
  readonly #queue: Queue
  readonly #options: QueuePoolOptions
  /** Of this run. */
  readonly #id: string
  readonly #waiting = new Map<number, Waiting>()
  readonly #sources = new Map<string, ByteSource>()
  readonly #inTurn = oneByOne()
  readonly #watching: Watching
  readonly #timer: NodeJS.Timeout
  #next = 0
  #lastAnswer = Date.now()
  #hasComplained = false

  private constructor(queue: Queue, first: number, idle: number, options: QueuePoolOptions) {
    this.#queue = queue
    this.#options = options
    this.#id = randomBytes(8).toString('hex')
    this.threads = Math.min(maxTasks, Math.max(minTasks, 2 * idle))
    this.#watching = watchAnswers(queue, this.#id, first, (outcome) => void this.#take(outcome))
    this.#timer = setInterval(() => void this.#lookAfter(), lookEvery)
    options.signal?.addEventListener('abort', this.#abort)
  }

  static async open(address: string, options: QueuePoolOptions = {}): Promise<QueuePool> {
    const queue = await openQueue(address)
    try {
      const { num_waiting = 0 } = await openTasks(queue)
      return new QueuePool(queue, await nextAnswer(queue), num_waiting, options)
    } catch (error) {
      await queue.close()
      throw error
    }
  }

  /** The same source, such that workers can open it by the address. */
  share(source: ByteSource, address: string): ByteSource {
    refuseSecrets(address)
    const shared = sharedSource(source, sharedAddress(address))
    this.#sources.set(sharedAddress(address), shared)
    return shared
  }

  prepare(): void {}

  async run(job: Job, options: RunOptions = {}): Promise<unknown> {
    const data = job.window ? undefined : sendable(job.data)
    const message = { job: this.#id, task: this.#next++, kind: job.kind, data }
    const limit = this.#queue.connection.info?.max_payload ?? 1 << 20
    if (data === undefined || Buffer.byteLength(JSON.stringify(message)) > limit)
      return this.#inTurn(() => this.#runHere(job, options))
    return new Promise((resolve, reject) => {
      if (options.signal?.aborted) return reject(cancelled(job))
      if (this.#waiting.size === 0) this.#lastAnswer = Date.now()
      const onAbort = (): void => settle(() => reject(cancelled(job)))
      const settle = (end: () => void): void => {
        options.signal?.removeEventListener('abort', onAbort)
        this.#waiting.delete(message.task)
        end()
      }
      options.signal?.addEventListener('abort', onAbort)
      this.#waiting.set(message.task, {
        ...{ job, options, data, troubles: 0 },
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
      })
      handOver(this.#queue, message, '').catch((error) => this.#waiting.get(message.task)?.reject(error))
    })
  }

  runApart(job: Job): Promise<unknown> {
    return Promise.reject(new Error(`${job.kind} needs memory that is shared`))
  }

  /** What cannot be sent is done by this machine. */
  async #runHere(job: Job, { signal = new AbortController().signal, onAdvance }: RunOptions): Promise<unknown> {
    const opened = new Map<string, ByteSource>()
    for (const handle of handlesIn(job.data)) {
      if (handle.kind !== 'shared') continue
      let source = this.#sources.get(handle.address)
      for (const [step, name] of handle.steps) source = await source?.[step]?.(name)
      if (source) opened.set(keyOf(handle), source)
    }
    const open = (handle: SourceHandle): ByteSource => opened.get(keyOf(handle)) ?? openHandle(handle)
    return workerJobs[job.kind]!(job.data, job.window, { signal, open, advance: (bytes) => onAdvance?.(bytes) })
  }

  async #take({ task, answer, bytes = 0, tooLong, failure, trouble }: OutcomeMessage): Promise<void> {
    const waiting = this.#waiting.get(task)
    if (!waiting) return
    this.#lastAnswer = Date.now()
    if (trouble && ++waiting.troubles < maxTroubles) return
    if (failure ?? trouble) return waiting.reject(new TareError((failure ?? trouble)!))
    try {
      const result = tooLong ? await this.#inTurn(() => this.#runHere(waiting.job, waiting.options)) : fromPlain(answer)
      waiting.options.onAdvance?.(bytes)
      waiting.resolve(result)
    } catch (error) {
      waiting.reject(error)
    }
  }

  async #lookAfter(): Promise<void> {
    const still = Date.now() - this.#lastAnswer
    if (this.#waiting.size === 0 || still < lostAfter) return
    if (still > patience && !this.#hasComplained) {
      this.#hasComplained = true
      this.#options.onWaiting?.(this.#queue.name)
    }
    const open = await openTasks(this.#queue).catch(() => undefined)
    if (!open || open.num_pending > 0 || open.num_ack_pending > 0) return
    const round = randomUUID()
    for (const [task, { job, data }] of this.#waiting)
      handOver(this.#queue, { job: this.#id, task, kind: job.kind, data }, round).catch(() => {})
  }

  readonly #abort = (): void => {
    for (const waiting of [...this.#waiting.values()]) waiting.reject(cancelled(waiting.job))
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#watching.stop()
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#abort()
    await this.#queue.manager.streams.purge(taskStream, { filter: taskSubject(this.#id) }).catch(() => {})
    await this.#queue.close().catch(() => {})
  }
}

function sendable(data: unknown): unknown {
  try {
    return toPlain(data)
  } catch (error) {
    if (error instanceof Unsendable) return undefined
    throw error
  }
}

/** The sources that a job reads. */
export function* handlesIn(data: unknown): Generator<SourceHandle, void, void> {
  if (typeof data !== 'object' || data === null || ArrayBuffer.isView(data)) return
  if ((data as { kind?: unknown }).kind === 'shared' && Object.hasOwn(data, 'address')) yield data as SourceHandle
  else for (const each of Object.values(data)) yield* handlesIn(each)
}

/** Tells files apart. */
export const keyOf = (handle: SourceHandle): string =>
  handle.kind === 'shared' ? JSON.stringify([handle.address, handle.steps]) : handle.name

const cancelled = ({ file, offset }: Job): TareError => {
  const finding: Finding = { code: ioCodes.aborted.code, severity: 'error', file, offset, message: 'cancelled' }
  return new TareError(finding)
}
