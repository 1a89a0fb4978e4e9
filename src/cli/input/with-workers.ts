// Verbs that only read can have the workers of a queue do what threads would do.
import { QueuePool } from '../../kit-node.js'
import type { Context } from '../context.js'
import { type Status, UsageError } from '../status.js'
import { queueName } from './queue-name.js'
import { reportFailure } from './run-inputs.js'

export async function withWorkers(
  context: Context,
  workers: string | undefined,
  work: (context: Context) => Promise<Status>,
): Promise<Status> {
  if (workers === undefined) return work(context)
  if (Object.keys(context.headers).length > 0)
    throw new UsageError('--header is not sent to workers; their credentials come from their environment')
  const { signal } = context
  let pool: QueuePool
  try {
    pool = await QueuePool.open(workers, { signal, onWaiting: sayWaiting(context) })
  } catch (error) {
    return reportFailure(context, queueName(workers), null, error)
  }
  try {
    // Only this machine can read a pipe.
    const share: Context['share'] = (source, input) => (input === '-' ? source : pool.share(source, input))
    return await work({ ...context, pool, share })
  } finally {
    await pool.close()
  }
}

export const sayWaiting =
  ({ console }: Context) =>
  (queue: string): void =>
    console.remark(`waiting: no worker has answered yet; start some with: tare worker ${queue}`)
