// Work for other threads. Functions do not travel between them, so a job names its kind, and a worker knows what to do for it.
import type { ByteSource, SourceHandle } from '../bytes/index.js'

export interface Job {
  readonly kind: string
  /** Plain data; the worker gets a copy. */
  readonly data: unknown
  /** Memory that both threads see, from `takeSharedWindow`: nothing of it is copied. */
  readonly window?: Uint8Array | undefined
  /** What the job is about, for the error when its worker does not live to report one. */
  readonly file: string
  readonly offset: number
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined
  /** Told how many bytes were dealt with, as the worker goes on. */
  readonly onAdvance?: ((bytes: number) => void) | undefined
}

/** Threads that take jobs in the order in which they are given. A job's error arrives as it was thrown; a worker that dies is one too. */
export interface WorkerPool {
  readonly threads: number
  /** How long it takes until threads work, in nanoseconds, about: less work than that is done sooner without them. Little, once they are there. */
  readonly startCost: number
  /** The same for a thread beside the others. */
  readonly apartCost: number
  /** Starts threads while their work is still being found out; all but one, since the caller works, too. */
  prepare(): void
  run(job: Job, options?: RunOptions): Promise<unknown>
  /** On a thread beside the others: for a job that waits for what its caller brings, and would keep the others from their turn. */
  runApart(job: Job, options?: RunOptions): Promise<unknown>
  /** Ends the threads. Jobs that are not done yet fail. */
  close(): Promise<void>
}

/** What a job finds where it runs. */
export interface JobContext {
  /** Aborted when nobody wants the result any more; that shows after each `advance`. */
  readonly signal: AbortSignal
  /** Tells how many bytes were dealt with. To be called after every window. */
  advance(bytes: number): void
  /** Reads what the other thread has open. */
  open(handle: SourceHandle): ByteSource
}

export type JobHandler = (data: unknown, window: Uint8Array | undefined, context: JobContext) => Promise<unknown>
