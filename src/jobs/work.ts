// Does tasks of a job: makes ranges of the output, and looks at the input. Doing one twice gives the same bytes, so a task that was cut short
// by anything is simply done again.
import { checkAborted } from '../bytes/index.js'
import type { Finding } from '../errors/index.js'
import { refuseDamage } from '../formats/index.js'
import { rangeOf } from '../writing/ranges/range-of.js'
import type { LookAnswer } from './looks.js'
import type { OpenJob, OpenLooksJob } from './open-job.js'
import type { TaskResult } from './result.js'
import type { CheckTask, LookTask, RangeTask, Task } from './tasks.js'

export interface WorkOptions {
  readonly signal?: AbortSignal | undefined
  /** Told about each task that is done. */
  readonly onDone?: ((task: Task) => void) | undefined
}

/** Does these tasks one after another, except those that are done already. Gives the number of those that were done here. */
export async function workOn(
  opened: OpenJob | OpenLooksJob,
  tasks: readonly Task[],
  options: WorkOptions = {},
): Promise<number> {
  const done = await opened.store.done(tasks)
  let made = 0
  for (const task of tasks) {
    if (!done.has(task.number)) {
      await doTask(opened, task, options.signal)
      made++
    }
    options.onDone?.(task)
  }
  return made
}

/** Does one task and leaves its result, last. */
export async function doTask(opened: OpenJob | OpenLooksJob, task: Task, signal?: AbortSignal): Promise<TaskResult> {
  const { job, store } = opened
  checkAborted(signal, job.files[0]!.name)
  const started = performance.now()
  const made = 'looks' in opened ? await look(opened, task, signal) : await make(opened, task, signal)
  const seconds = (performance.now() - started) / 1000
  const result = { shares: [], damage: [], ...made, task: task.number, seconds }
  // What was read belongs to the inputs as they were planned for, or it does not count.
  await opened.inputs.assertUnchanged()
  await store.putResult(job.id, result)
  return result
}

type Made = Partial<Pick<TaskResult, 'shares' | 'damage' | 'answers'>>

async function make(opened: OpenJob, task: Task, signal?: AbortSignal): Promise<Made> {
  if (task.kind === 'range') return { shares: await makeRange(opened, task, signal) }
  return { damage: await check(opened, task as CheckTask, signal) }
}

async function look({ looks }: OpenLooksJob, task: Task, signal?: AbortSignal): Promise<Made> {
  const { first, end } = task as LookTask
  const answers: LookAnswer[] = []
  for (let place = first; place < end; place++) answers.push(await looks.answer(place, signal))
  return { answers }
}

async function check(
  { job, conversion }: OpenJob,
  { first, end }: CheckTask,
  signal?: AbortSignal,
): Promise<readonly Finding[]> {
  const { checks, source, threads } = conversion
  const damage: Finding[] = []
  for (const each of checks.slice(first, end)) {
    const found = await each.run({ signal, pool: threads.pool })
    if (!job.allowDamage) refuseDamage(found, source)
    for (const finding of found) damage.push(finding)
  }
  return damage
}

async function makeRange({ conversion, store }: OpenJob, task: RangeTask, signal?: AbortSignal) {
  if (task.copyOf && store.copy) {
    await store.copy(task, signal)
    return []
  }
  const { layout } = conversion
  const range = rangeOf(layout, layout.files[task.file]!.name, task.from, task.to, { signal })
  await store.write(task, range, signal)
  return range.sums().shares
}
