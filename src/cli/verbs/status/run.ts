import { setTimeout } from 'node:timers/promises'
import { jobStatus } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatInteger } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { runJob } from '../../input/run-job.js'
import type { Status } from '../../status.js'
import type { StatusOptions } from './index.js'
import { nextStep, rangesOf } from './text.js'

/** Milliseconds between two looks. */
const pause = 1000

export default async function status(
  context: Context,
  [file = '']: readonly string[],
  options: StatusOptions,
): Promise<Status> {
  return runJob(context, file, async (how) => {
    let found = await jobStatus(file, how)
    while (options.wait && found.state === 'working') {
      await setTimeout(pause, undefined, { signal: context.signal })
      found = await jobStatus(file, how)
    }
    const { state, done, tasks, missing } = found
    if (context.json) await context.console.json({ file, format: null, state, done, tasks, missing })
    else {
      const share = tasks === 0 ? 100 : Math.floor((100 * done) / tasks)
      const counts = `${formatInteger(done)} of ${formatInteger(tasks)} parts (${share} %)`
      await context.console.print([
        `${escapeName(file)}: ${state === 'working' ? 'incomplete' : state}${state === 'gone' ? '' : `, ${counts}`}`,
      ])
      if (missing.length > 0) await context.console.print([`missing: ${rangesOf(missing)}`])
      context.console.remark(nextStep(state, escapeName(file)))
    }
    return state === 'working' || state === 'gone' ? 1 : 0
  })
}
