// A conversion that the workers of a queue carry out: planned and finished here, made there.
import { planOnQueue, submitJob } from '../../../kit-node.js'
import { formatSize } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { damageJson } from '../../input/damage.js'
import { jobRequest } from '../../input/job-request.js'
import { runJob } from '../../input/run-job.js'
import { sayWaiting } from '../../input/with-workers.js'
import { reportWritten } from '../../output/conversion.js'
import { type Status, UsageError } from '../../status.js'
import type { ConvertOptions } from './index.js'

export async function convertByQueue(
  context: Context,
  inputs: readonly string[],
  options: ConvertOptions,
  queue: string,
): Promise<Status> {
  const { output, receipt, dryRun, resume } = options
  const [input] = inputs
  if (input === undefined || inputs.length > 1) throw new UsageError('--workers takes one input')
  if (output === undefined || output === '-')
    throw new UsageError('--workers needs an output that all workers can write')
  for (const [flag, value] of Object.entries({ receipt, dryRun, resume }))
    if (value !== undefined)
      throw new UsageError(`--workers does not go with --${flag === 'dryRun' ? 'dry-run' : flag}`)
  const request = await jobRequest(context, input, output, options)
  return runJob(context, input, async (how) => {
    const started = performance.now()
    const onWaiting = sayWaiting(context)
    const opened = await planOnQueue(queue, request, output, { ...how, onWaiting })
    const { plan } = opened.conversion
    const { files, damage, seconds } = await submitJob(queue, opened, { ...how, onWaiting }).finally(opened.close)
    const took = ((performance.now() - started) / 1000).toFixed(1)
    const about = `${formatSize(plan.size)}, ${took} s (${seconds.toFixed(1)} s of work by workers)`
    await reportWritten(context, input, plan, files, about, damageJson(damage))
    return 0
  })
}
