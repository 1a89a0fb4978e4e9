// What the verbs about jobs share: how work is run, and how a failure is told.
import { collectGarbage, type JobRunOptions, keepHeapSmall } from '../../kit-node.js'
import { isClosedPipe } from '../console/process-events.js'
import type { Context } from '../context.js'
import { type Status, UsageError } from '../status.js'
import { inputOptions, reportFailure } from './run-inputs.js'

/** `name` is what a failure is about. */
export async function runJob(
  context: Context,
  name: string,
  work: (how: JobRunOptions) => Promise<Status>,
): Promise<Status> {
  const { console } = context
  keepHeapSmall()
  console.progress.start()
  try {
    const onProgress = console.progress.update
    return await work({ ...inputOptions(context), pool: context.pool, onProgress, collectGarbage })
  } catch (error) {
    if (error instanceof UsageError || isClosedPipe(error)) throw error
    return await reportFailure(context, name, null, error)
  } finally {
    console.progress.finish()
  }
}
