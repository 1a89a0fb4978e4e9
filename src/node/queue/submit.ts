// Hands a job to the workers of a queue and waits for it. What counts as done is what lies where the parts are collected, not what anybody
// said: the queue can lose its memory, and the submitter can be killed and started again.
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type Finding, failWith, TareError } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import type { Job } from '../../jobs/job.js'
import type { OpenJob } from '../../jobs/open-job.js'
import type { Task } from '../../jobs/tasks.js'
import { type FinishedJob, finishOpened, type JobRunOptions, openForWork } from '../jobs/index.js'
import { openQueue, openTasks, type Queue, resultStream, resultSubject, taskStream, taskSubject } from './connection.js'
import { parseOutcome, type TaskMessage } from './messages.js'

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

/** Has the workers of a queue carry out a job, and finishes it. */
export async function submitJob(address: string, job: Job, options: SubmitOptions = {}): Promise<FinishedJob> {
  const queue = await openQueue(address)
  const opened = await openForWork(job, options)
  try {
    // The longest first: what is left at the end is short.
    const byCost = [...opened.tasks].sort((a, b) => b.cost - a.cost)
    const { state } = await queue.manager.streams.info(resultStream)
    await handOut(queue, opened, byCost)
    await waitForAll(queue, opened, state.last_seq + 1, options)
    return await finishOpened(opened, options)
  } finally {
    await opened.close()
    await queue.manager.streams.purge(taskStream, { filter: taskSubject(job.id) }).catch(() => {})
    await queue.close().catch(() => {})
  }
}

/** A task that is sent twice because an answer was lost is dropped by the queue. */
async function handOut(queue: Queue, { job, store }: OpenJob, tasks: readonly Task[]): Promise<void> {
  const round = randomUUID()
  const done = await store.done(tasks)
  const waiting: Promise<unknown>[] = []
  for (const { number } of tasks) {
    if (done.has(number)) continue
    const message: TaskMessage = { job: job.id, address: store.jobAddress, task: number }
    waiting.push(
      queue.client.publish(taskSubject(job.id), JSON.stringify(message), { msgID: `${job.id}-${number}-${round}` }),
    )
    if (waiting.length >= maxInFlight) await Promise.all(waiting.splice(0))
  }
  await Promise.all(waiting)
}

const maxInFlight = 256

async function waitForAll(queue: Queue, opened: OpenJob, first: number, options: SubmitOptions): Promise<void> {
  const { job, tasks, store } = opened
  const { signal, onProgress, onWaiting } = options
  const failures = watchFailures(queue, job, first)
  const total = tasks.reduce((sum, task) => sum + sizeOf(task), 0)
  let [count, lastChange, hasComplained] = [-1, Date.now(), false]
  try {
    for (;;) {
      const results = new Set(await store.results())
      const done = tasks.filter(({ number }) => results.has(number))
      onProgress?.({ done: done.reduce((sum, task) => sum + sizeOf(task), 0), total, path: job.files[0]!.name })
      if (done.length === tasks.length && (await store.done(tasks)).size === tasks.length) return
      if (failures.found) throw new TareError(failures.found)
      if (done.length !== count) [count, lastChange] = [done.length, Date.now()]
      const still = Date.now() - lastChange
      if (still > patience && !hasComplained) {
        hasComplained = true
        onWaiting?.(queue.name)
      }
      if (still > lostAfter && (await isLost(queue))) {
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
    failures.stop()
  }
}

const sizeOf = (task: Task): number => (task.kind === 'range' ? task.to - task.from : 1)

/** Whether the queue knows of no task any more. */
async function isLost(queue: Queue): Promise<boolean> {
  const open = await openTasks(queue).catch(() => undefined)
  return open !== undefined && open.num_pending === 0 && open.num_ack_pending === 0
}

interface Failures {
  readonly found: Finding | undefined
  stop(): void
}

/** Looks for workers that say why the job cannot be done, from a message on: what they said in an earlier run does not count. */
function watchFailures(queue: Queue, job: Job, first: number): Failures {
  const state: { found: Finding | undefined; isStopped: boolean } = { found: undefined, isStopped: false }
  let next = first
  const watch = async (): Promise<void> => {
    const consumer = await queue.client.consumers.get(resultStream, {
      // A list would need version 2.10 of the server.
      filter_subjects: resultSubject(job.id),
      deliver_policy: 'by_start_sequence',
      opt_start_seq: next,
    })
    while (!state.isStopped) {
      const message = await consumer.next({ expires: 2000 })
      if (!message) continue
      next = message.seq + 1
      const outcome = parseOutcome(message.string())
      if (outcome?.failure) state.found ??= outcome.failure
    }
  }
  const keepWatching = async (): Promise<void> => {
    // The server may be away for a while.
    while (!state.isStopped) await watch().catch(() => setTimeout(pause))
  }
  void keepWatching()
  return {
    get found() {
      return state.found
    },
    stop() {
      state.isStopped = true
    },
  }
}
