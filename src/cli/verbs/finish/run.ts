import { discardJob, finishJob } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { damageJson } from '../../input/damage.js'
import { runJob } from '../../input/run-job.js'
import type { Status } from '../../status.js'
import type { FinishOptions } from './index.js'

export default async function finish(
  context: Context,
  [file = '']: readonly string[],
  options: FinishOptions,
): Promise<Status> {
  const { console, json } = context
  return runJob(context, file, async (how) => {
    if (options.discard) {
      await discardJob(file, how)
      if (json) await console.json({ file, format: null, discarded: true })
      else console.remark(`${escapeName(file)}: discarded`)
      return 0
    }
    const { job, files, damage, seconds, next } = await finishJob(file, how)
    if (json) {
      const found = { files, workSeconds: seconds, ...(next && { next: next.id }), ...damageJson(damage) }
      await console.json({ file, format: job.target, id: job.id, ...found })
      return 0
    }
    if (next) {
      const what = next.looks ? 'of more looks at values' : `of ${escapeName(next.files[0]!.name)}`
      console.remark(`${escapeName(file)}: values are known; it is now ${plural(next.tasks, 'part')} ${what}`)
      console.remark(`next: tare work ${escapeName(file)}, then tare finish ${escapeName(file)} once more`)
      return 0
    }
    const size = files.reduce((sum, each) => sum + each.size, 0)
    for (const finding of damage) console.remarkOn(finding)
    console.remark(`${escapeName(files[0]!.name)}: ${job.target}, ${formatSize(size)}, ${seconds.toFixed(1)} s of work`)
    return 0
  })
}
