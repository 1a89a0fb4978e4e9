import { workOnJob } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { runJob } from '../../input/run-job.js'
import { shareFrom } from '../../input/share.js'
import type { Status } from '../../status.js'
import type { WorkOptions } from './index.js'

export default async function work(
  context: Context,
  [file = '']: readonly string[],
  options: WorkOptions,
): Promise<Status> {
  const share = shareFrom(options)
  return runJob(context, file, async (how) => {
    const started = performance.now()
    const { job, tasks, made } = await workOnJob(file, { ...how, ...share })
    const seconds = (performance.now() - started) / 1000
    const { part = 1, parts = 1 } = share ?? {}
    if (context.json) await context.console.json({ file, format: null, id: job.id, part, parts, tasks, made, seconds })
    else {
      const before = tasks - made
      const rest = before > 0 ? `, ${before} there already` : ''
      const did = `made ${plural(made, 'part')}${rest}, ${seconds.toFixed(1)} s`
      const none = 'has nothing to make: there are fewer parts than workers'
      context.console.remark(`${escapeName(file)}: worker ${part} of ${parts} ${tasks === 0 ? none : did}`)
    }
    return 0
  })
}
