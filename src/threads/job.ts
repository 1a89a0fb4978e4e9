// Work for other threads. Functions cannot be sent to them, so a job names its kind and each worker has a handler for it.
import type { ByteSource, SourceHandle } from '../bytes/index.js'

export interface Job {
  readonly kind: string
  /** Plain data; the worker gets a copy. */
  readonly data: unknown
  /** Memory that both threads share, from `takeSharedWindow`; it is not copied. */
  readonly window?: Uint8Array | undefined
  /** The file and offset for the error if the worker dies. */
  readonly file: string
  readonly offset: number
}

export interface RunOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the number of processed bytes, as the worker proceeds. */
  readonly onAdvance?: ((bytes: number) => void) | undefined
}

/** Threads that take jobs in order. Errors of a job arrive as they were thrown; a worker that dies is an error too. */
export interface WorkerPool {
  readonly threads: number
  /** They are on other machines: nothing is shared with them but what can be sent, and this thread has nothing to do meanwhile. */
  readonly isRemote?: true
  /** Nanoseconds until threads work, approximately: less work is faster without them. Small once they are running. */
  readonly startCost: number
  /** The same for a separate thread. */
  readonly apartCost: number
  /** Starts threads while their work is still being planned; all but one, since the caller works too. */
  prepare(): void
  /** Runs a job on the next free thread and gives its result. */
  run(job: Job, options?: RunOptions): Promise<unknown>
  /** Runs on a separate thread: for a job that waits for input from its caller and would block the others. */
  runApart(job: Job, options?: RunOptions): Promise<unknown>
  /** Stops the threads. Unfinished jobs fail. */
  close(): Promise<void>
}

/** What a handler can use. */
export interface JobContext {
  /** Aborted when the result is no longer needed, which is checked at each `advance`. */
  readonly signal: AbortSignal
  /** Reports processed bytes. To be called after every window. */
  advance(bytes: number): void
  /** Opens a source that the other thread has open. */
  open(handle: SourceHandle): ByteSource
}

export type JobHandler = (data: unknown, window: Uint8Array | undefined, context: JobContext) => Promise<unknown>

/** The threads of a run. They are chosen when a plan is executed, so its payloads keep this object and look at it when they are read. */
export interface RunThreads {
  pool?: WorkerPool | undefined
}
