// Completes a job: joins what workers left about their parts into checksums, hashes and indexes, has the store put all of it together, and lets
// it become visible when it opens again.
import type { Finding } from '../errors/index.js'
import { failWith } from '../errors/index.js'
import { finishFile } from '../writing/ranges/finish-file.js'
import type { RangeSums } from '../writing/ranges/range-of.js'
import { jobCodes } from './codes.js'
import type { OpenJob } from './open-job.js'
import { parseResult, type TaskResult } from './result.js'
import type { LateBytes } from './store.js'
import type { Task } from './tasks.js'

export interface Results {
  readonly late: LateBytes
  /** What is damaged in the input, where that is allowed. */
  readonly damage: readonly Finding[]
  /** What all workers together took. */
  readonly seconds: number
}

/** Throws `job/incomplete` unless every task is done. */
export async function joinResults(opened: OpenJob): Promise<Results> {
  const { job, tasks, store, conversion } = opened
  const done = await store.done(tasks)
  const missing = tasks.filter(({ number }) => !done.has(number))
  const main = job.files[0]!.name
  if (missing.length > 0) {
    const message = `${missing.length} of ${tasks.length} parts have not been made; \`tare work\` without --part makes all that are missing`
    failWith(jobCodes.incomplete, { file: main, message })
  }
  const { layout } = conversion
  const sums: RangeSums[][] = layout.files.map(() => [])
  const damage: Finding[] = []
  let seconds = 0
  for await (const { task, result } of resultsOf(opened)) {
    seconds += result.seconds
    for (const finding of result.damage) damage.push(finding)
    if (task.kind === 'check') continue
    const { from, to } = task
    sums[task.file]!.push({ file: layout.files[task.file]!.name, from, to, shares: result.shares })
  }
  const late: ReadonlyMap<number, Uint8Array>[] = []
  for (const [i, { name }] of layout.files.entries()) late.push(await finishFile(layout, name, sums[i]!))
  return { late, damage, seconds }
}

/** Each takes a few round trips to the store, so several are asked for at once. */
const maxInFlight = 32

async function* resultsOf(opened: OpenJob): AsyncGenerator<{ task: Task; result: TaskResult }, void, void> {
  const known = await opened.store.results()
  const long: Task[] = []
  for (const task of opened.tasks) {
    const seconds = known.get(task.number)
    if (seconds === undefined) long.push(task)
    else yield { task, result: { task: task.number, shares: [], damage: [], seconds } }
  }
  for (let i = 0; i < long.length; i += maxInFlight) {
    const asked = long.slice(i, i + maxInFlight)
    yield* await Promise.all(asked.map(async (task) => ({ task, result: await resultOf(opened, task.number) })))
  }
}

async function resultOf({ job, store }: OpenJob, task: number): Promise<TaskResult> {
  const found = await store.result(task)
  if (!found) failWith(jobCodes.incomplete, { file: job.files[0]!.name, message: `the result of part ${task} is gone` })
  return parseResult(found.text, job.id, task, found.name)
}
