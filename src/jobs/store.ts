// Where the parts of a job are collected, with what workers leave about them. It is the ledger of the job: what is there is done,
// whichever worker did it.
import type { ByteSource } from '../bytes/index.js'
import type { Conversion } from '../convert/plan.js'
import type { OutputRange } from '../writing/ranges/range-of.js'
import type { KnownResults, TaskResult } from './result.js'
import type { RangeTask, Task, TaskOptions } from './tasks.js'

/** The late bytes of each file by their offsets. */
export type LateBytes = readonly ReadonlyMap<number, Uint8Array>[]

/** What was planned, and how it was cut. */
export interface PlannedWork {
  readonly conversion: Conversion
  readonly tasks: readonly Task[]
}

export interface JobStore {
  /** What limits the parts. */
  readonly limits: Pick<TaskOptions, 'isStored' | 'canCopy'>
  /** Where the job itself is kept, for workers that a queue tells of it. */
  readonly jobAddress: string
  /** The tasks that left a result, with what its name says. */
  results(): Promise<KnownResults>
  /** Those of these tasks that are done. */
  done(tasks: readonly Task[]): Promise<ReadonlySet<number>>
  /** Keeps the bytes of a range, all but those that are not known yet. Doing it twice is the same as doing it once. */
  write(task: RangeTask, range: OutputRange, signal: AbortSignal | undefined): Promise<void>
  /** Has the range of a source copied. Absent: nothing is copied. */
  copy?(task: RangeTask, signal: AbortSignal | undefined): Promise<void>
  putResult(job: string, result: TaskResult): Promise<void>
  /** One that has more to say than its name. Undefined if there is none. `name` is for messages. */
  result(task: number): Promise<{ readonly name: string; readonly text: string } | undefined>
  /** Completes the output and lets it become visible, if `assertOpens` does not throw. */
  commit(
    planned: PlannedWork,
    late: LateBytes,
    assertOpens: (written: ByteSource) => Promise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void>
  /** Whether all files of the output are where they belong. */
  isFinished(): Promise<boolean>
  /** Removes all that was collected. The output stays as it was. */
  discard(): Promise<void>
}
