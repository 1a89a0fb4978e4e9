// Messages between a pool and its workers.
import { type Finding, findingOf, TareError } from '../errors/index.js'
import { poolCodes } from './codes.js'
import type { Job } from './job.js'

export interface Request {
  readonly job: Job
  /** Shared by both threads, non-zero when the job is cancelled. A busy worker reads no messages. */
  readonly cancelled: Int32Array | undefined
}

export type Answer =
  | { readonly type: 'ready' }
  | { readonly type: 'advance'; readonly bytes: number }
  /** With the bytes that have not been reported yet. */
  | { readonly type: 'result'; readonly result: unknown; readonly bytes: number }
  | { readonly type: 'error'; readonly finding: Finding }

/** An error as plain data. Foreign errors become a finding about the job. */
export function findingFor(error: unknown, { kind, file, offset }: Job): Finding {
  if (error instanceof TareError) return error.finding
  const message = `the job "${kind}" failed: ${error instanceof Error ? error.message : String(error)}`
  return findingOf(poolCodes.failed, { file, offset, path: kind, message })
}
