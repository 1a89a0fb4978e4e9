// Hands a job to the workers of a queue and waits for it. What counts as done is what lies where the parts are collected, not what anybody
// said: the queue can lose its memory, and the submitter can be killed and started again.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Finding, failWith, TareError } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import type { JobRequest } from '../../jobs/make-job.js'
import type { OpenJob } from '../../jobs/open-job.js'
import type { Task } from '../../jobs/tasks.js'
import { type FinishedJob, finishOpened, type JobRunOptions, startOpenJob } from '../jobs/index.js'
import { handOver, nextAnswer, watchAnswers } from './answers.js'
import { openQueue, openTasks, type Queue, taskStream, taskSubject } from './connection.js'
import { QueuePool } from './pool.js'

export interface SubmitOptions extends JobRunOptions {
  /** Told once when no worker has taken anything for a while. */
  readonly onWaiting?: ((queue: string) => void) | undefined
}

/** Milliseconds between two looks at what is done. */
const pause = 500
/** After this long without a worker the user is told. */
const patience = 20_000
/** After this long without progress, tasks that the queue has lost are handed out again. */
const lostAfter = 10_000

/** Has the workers of a queue carry out a job, and finishes it. The caller closes the job. */
export async function submitJob(address: string, opened: OpenJob, options: SubmitOptions = {}): Promise<FinishedJob> {
  const queue = await openQueue(address)
  try {
    // The longest first: what is left at the end is short.
    const byCost = [...opened.tasks].sort((a, b) => b.cost - a.cost)
    const first = await nextAnswer(queue)
    await handOut(queue, opened, byCost)
    await waitForAll(queue, opened, first, options)
    return await finishOpened(opened, options)
  } finally {
    await queue.manager.streams.purge(taskStream, { filter: taskSubject(opened.job.id) }).catch(() => {})
    await queue.close().catch(() => {})
  }
}

async function handOut(queue: Queue, { job, store }: OpenJob, tasks: readonly Task[]): Promise<void> {
  const round = randomUUID()
  const done = await store.done(tasks)
  const waiting: Promise<unknown>[] = []
  for (const { number } of tasks) {
    if (done.has(number)) continue
    waiting.push(handOver(queue, { job: job.id, address: store.jobAddress, task: number }, round))
    if (waiting.length >= maxInFlight) await Promise.all(waiting.splice(0))
  }
  await Promise.all(waiting)
}

const maxInFlight = 256

async function waitForAll(queue: Queue, opened: OpenJob, first: number, options: SubmitOptions): Promise<void> {
  const { job, tasks, store } = opened
  const { signal, onProgress, onWaiting } = options
  let [failure, trouble]: (Finding | undefined)[] = []
  const watching = watchAnswers(queue, job.id, first, (outcome) => {
    failure ??= outcome.failure
    trouble = outcome.trouble ?? trouble
  })
  const total = tasks.reduce((sum, task) => sum + sizeOf(task), 0)
  let [count, lastChange, hasComplained] = [-1, Date.now(), false]
  try {
    for (;;) {
      const results = await store.results()
      const done = tasks.filter(({ number }) => results.has(number))
      onProgress?.({ done: done.reduce((sum, task) => sum + sizeOf(task), 0), total, path: job.files[0]!.name })
      if (done.length === tasks.length && (await store.done(tasks)).size === tasks.length) return
      if (failure) throw new TareError(failure)
      if (done.length !== count) [count, lastChange, trouble] = [done.length, Date.now(), undefined]
      const still = Date.now() - lastChange
      if (still > patience && !hasComplained) {
        hasComplained = true
        onWaiting?.(queue.name)
      }
      if (still > lostAfter && (await isLost(queue))) {
        // Everybody has tried, and nobody could.
        if (trouble) throw new TareError(trouble)
        lastChange = Date.now()
        await handOut(queue, opened, tasks)
      }
      await setTimeout(pause, undefined, { signal }).catch(() =>
        failWith(jobCodes.queue, {
          file: queue.name,
          message: 'waiting was cancelled; workers go on with what they have',
        }),
      )
    }
  } finally {
    watching.stop()
  }
}

const sizeOf = (task: Task): number => (task.kind === 'range' ? task.to - task.from : 1)

/** Whether the queue knows of no task any more. */
async function isLost(queue: Queue): Promise<boolean> {
  const open = await openTasks(queue).catch(() => undefined)
  return open !== undefined && open.num_pending === 0 && open.num_ack_pending === 0
}

/** Plans a job, and has the workers look at values that the plan depends on. The caller closes it. */
export async function planOnQueue(
  address: string,
  request: JobRequest,
  output: string,
  options: SubmitOptions = {},
): Promise<OpenJob> {
  const pool = await QueuePool.open(address, options)
  try {
    return await startOpenJob(request, output, {
      ...options,
      pool,
      share: (source, place) => pool.share(source, place),
    })
  } finally {
    await pool.close()
  }
}
