import { resolve } from 'node:path'
import { isRemote, serveQueue } from '../../../kit-node.js'
import { plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { queueName } from '../../input/queue-name.js'
import { runJob } from '../../input/run-job.js'
import type { Status } from '../../status.js'
import type { WorkerOptions } from './index.js'

export default async function worker(
  context: Context,
  [address = '']: readonly string[],
  options: WorkerOptions,
): Promise<Status> {
  const { console, json } = context
  const shown = queueName(address)
  return runJob(context, shown, async (how) => {
    const started = performance.now()
    const tasks = await serveQueue(address, {
      ...how,
      idle: options.idle,
      below: options.below?.map((path) => (isRemote(path) ? path : resolve(path))),
      onFailure: (finding) => console.remarkOn(finding),
    })
    const seconds = (performance.now() - started) / 1000
    if (json) await console.json({ file: shown, format: null, tasks, seconds })
    else console.remark(`${shown}: made ${plural(tasks, 'part')} in ${seconds.toFixed(1)} s`)
    return 0
  })
}
