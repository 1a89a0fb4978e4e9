// Completes a job: joins what workers left about their parts into checksums, hashes and indexes, has the store put all of it together, and lets
// it become visible when it opens again.
import type { Finding } from '../errors/index.js'
import { failWith } from '../errors/index.js'
import { finishFile } from '../writing/ranges/finish-file.js'
import type { RangeSums } from '../writing/ranges/range-of.js'
import { jobCodes } from './codes.js'
import { answersShape, type LookAnswer, type LookRound } from './looks.js'
import type { OpenJob, OpenLooksJob } from './open-job.js'
import { longName, parseResult, type TaskResult } from './result.js'
import type { LateBytes } from './store.js'
import type { LookTask, Task } from './tasks.js'

export interface Results {
  readonly late: LateBytes
  /** What is damaged in the input, where that is allowed. */
  readonly damage: readonly Finding[]
  /** What all workers together took. */
  readonly seconds: number
}

/** Throws `job/incomplete` unless every task is done. */
export async function joinResults(opened: OpenJob): Promise<Results> {
  await assertDone(opened)
  const { layout } = opened.conversion
  const sums: RangeSums[][] = layout.files.map(() => [])
  const damage: Finding[] = []
  let seconds = 0
  for await (const { task, result } of resultsOf(opened)) {
    seconds += result.seconds
    for (const finding of result.damage) damage.push(finding)
    if (task.kind !== 'range') continue
    const { from, to } = task
    sums[task.file]!.push({ file: layout.files[task.file]!.name, from, to, shares: result.shares })
  }
  const late: ReadonlyMap<number, Uint8Array>[] = []
  for (const [i, { name }] of layout.files.entries()) late.push(await finishFile(layout, name, sums[i]!))
  return { late, damage, seconds }
}

/** What looks found. Throws `job/incomplete` unless all are there. */
export async function joinAnswers(opened: OpenLooksJob): Promise<LookRound> {
  await assertDone(opened)
  const { kind } = opened.looks
  const answers: LookAnswer[] = []
  for await (const { task, result } of resultsOf(opened)) {
    const { first, end } = task as LookTask
    const complain = (path: string, message: string): never =>
      failWith(jobCodes.result, { file: longName(task.number), path, message })
    const found = result.answers ?? []
    answersShape(kind)(found, 'answers', complain)
    if (found.length !== end - first) complain('answers', `there are ${found.length}, and ${end - first} looks`)
    for (const each of found) answers.push(each)
  }
  return { kind, answers }
}

async function assertDone({ job, tasks, store }: Pick<OpenJob, 'job' | 'tasks' | 'store'>): Promise<void> {
  const done = await store.done(tasks)
  const missing = tasks.filter(({ number }) => !done.has(number))
  if (missing.length === 0) return
  const message = `${missing.length} of ${tasks.length} parts have not been made; \`tare work\` without --part makes all that are missing`
  failWith(jobCodes.incomplete, { file: job.files[0]!.name, message })
}

/** Each takes a few round trips to the store, so several are asked for at once. */
const maxInFlight = 32

async function* resultsOf(
  opened: Pick<OpenJob, 'job' | 'tasks' | 'store'>,
): AsyncGenerator<{ task: Task; result: TaskResult }, void, void> {
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

async function resultOf({ job, store }: Pick<OpenJob, 'job' | 'store'>, task: number): Promise<TaskResult> {
  const found = await store.result(task)
  if (!found) failWith(jobCodes.incomplete, { file: job.files[0]!.name, message: `the result of part ${task} is gone` })
  return parseResult(found.text, job.id, task, found.name)
}
