import { type PlannedJob, planOnQueue, startJob, writeJob } from '../../../kit-node.js'
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
  const { workers, leaveLooks } = options
  if (workers !== undefined && leaveLooks) throw new UsageError('--workers and --leave-looks exclude each other')
  const request = await jobRequest(context, input, target, options)
  return runJob(context, input, async (how) => {
    const { job, plan } =
      workers === undefined
        ? await startJob({ ...request, leaveLooks }, target, how)
        : await plannedBy(workers, request, target, { ...how, onWaiting: sayWaiting(context) })
    await writeJob(job, output)
    const size = job.files.reduce((sum, file) => sum + file.size, 0)
    if (context.json)
      await context.console.json({
        ...{ file: input, format: plan?.source.format ?? null, target: job.target, output: target, job: output },
        ...{
          id: job.id,
          tasks: job.tasks,
          size,
          files: plan ? job.files.map(({ name, size }) => ({ name, size })) : [],
        },
        loss: plan?.loss ?? null,
      })
    else {
      const { console } = context
      const what = plan ? `of ${escapeName(target)}, ${formatSize(size)}` : 'of looks at values, before it is laid out'
      console.remark(`${escapeName(output)}: ${plural(job.tasks, 'part')} ${what}`)
      console.remark(
        `next: \`tare work ${escapeName(output)} --part I/N\` on each of N machines, then \`tare finish ${escapeName(output)}\``,
      )
    }
    return 0
  })
}

async function plannedBy(...asked: Parameters<typeof planOnQueue>): Promise<PlannedJob> {
  const opened = await planOnQueue(...asked)
  await opened.close()
  return { job: opened.job, plan: opened.conversion.plan }
}
