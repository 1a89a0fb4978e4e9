import { planOnQueue, startOpenJob, writeJob } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { jobRequest } from '../../input/job-request.js'
import { runJob } from '../../input/run-job.js'
import { sayWaiting } from '../../input/with-workers.js'
import { type Status, UsageError } from '../../status.js'
import type { PlanOptions } from './index.js'

export default async function plan(
  context: Context,
  [input = '', target = '']: readonly string[],
  options: PlanOptions,
): Promise<Status> {
  const { output } = options
  if (output === undefined || output === '-') throw new UsageError('name the job file with -o FILE')
  const request = await jobRequest(context, input, target, options)
  return runJob(context, input, async (how) => {
    const started =
      options.workers === undefined
        ? await startOpenJob(request, target, how)
        : await planOnQueue(options.workers, request, target, { ...how, onWaiting: sayWaiting(context) })
    await started.close()
    const { job, conversion } = started
    const { plan } = conversion
    await writeJob(job, output)
    const size = job.files.reduce((sum, file) => sum + file.size, 0)
    if (context.json)
      await context.console.json({
        ...{ file: input, format: plan.source.format, target: job.target, output: target, job: output, id: job.id },
        ...{ tasks: job.tasks, size, files: job.files.map(({ name, size }) => ({ name, size })), loss: plan.loss },
      })
    else {
      const { console } = context
      console.remark(
        `${escapeName(output)}: ${plural(job.tasks, 'part')} of ${escapeName(target)}, ${formatSize(size)}`,
      )
      console.remark(
        `next: tare work ${escapeName(output)} --part 1/N on each of N machines, then tare finish ${escapeName(output)}`,
      )
    }
    return 0
  })
}
