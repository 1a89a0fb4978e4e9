// Serves a queue: takes tasks one by one, does them, and says so. A worker that dies or hangs stops saying that it is at work, and the queue
// gives its task to another one. Doing a task twice gives the same bytes.
import type { JsMsg } from '@nats-io/jetstream'
import { checkAborted } from '../../bytes/index.js'
import { type Finding, failWith, ioCodes, TareError } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import type { OpenJob } from '../../jobs/open-job.js'
import { doTask } from '../../jobs/work.js'
import { type JobRunOptions, openForWork } from '../jobs/index.js'
import { ackWait, consumerName, openQueue, type Queue, resultSubject, taskStream } from './connection.js'
import { type OutcomeMessage, parseTask, type TaskMessage } from './messages.js'

export interface ServeOptions extends JobRunOptions {
  /** Only jobs whose inputs and output lie below one of these directories or prefixes. Default: any. */
  readonly below?: readonly string[] | undefined
  /** Ends when there has been nothing to do for this many seconds. Default: never. */
  readonly idle?: number | undefined
  /** Milliseconds without a word after which a task is given to another worker. */
  readonly ackWait?: number | undefined
  readonly onTask?:
    | ((what: { readonly job: string; readonly task: number; readonly seconds: number }) => void)
    | undefined
  readonly onFailure?: ((finding: Finding) => void) | undefined
}

/** How long one request for a task waits at the server. */
const waitMs = 2000
/** Before a task that failed for a reason that may pass is tried again. */
const retryMs = 5000
/** Jobs that are kept planned. */
const maxJobs = 2

/** Works until the signal ends it, or until it is idle. Gives the number of tasks that it did. */
export async function serveQueue(address: string, options: ServeOptions = {}): Promise<number> {
  const queue = await openQueue(address, options)
  const jobs = new OpenJobs(options)
  let done = 0
  let lastWork = Date.now()
  try {
    const consumer = await queue.client.consumers.get(taskStream, consumerName())
    while (!options.signal?.aborted) {
      // Fails while the server is away; the client connects again by itself.
      const message = await consumer.next({ expires: waitMs }).catch(() => null)
      if (!message) {
        if (options.idle !== undefined && Date.now() - lastWork > options.idle * 1000) break
        if (queue.connection.isClosed())
          failWith(jobCodes.queue, { file: queue.name, message: 'the connection was closed' })
        continue
      }
      if (await handle(queue, jobs, message, options)) done++
      lastWork = Date.now()
    }
    return done
  } finally {
    await jobs.close()
    await queue.close().catch(() => {})
  }
}

async function handle(queue: Queue, jobs: OpenJobs, message: JsMsg, options: ServeOptions): Promise<boolean> {
  const asked = parseTask(message.string())
  if (!asked) {
    message.term('this is not a task of tare')
    return false
  }
  const heartbeat = setInterval(() => message.working(), (options.ackWait ?? ackWait) / 3)
  const started = performance.now()
  try {
    await doAsked(await jobs.get(asked), asked, options)
    const seconds = (performance.now() - started) / 1000
    await publish(queue, asked, { task: asked.task, seconds })
    message.ack()
    options.onTask?.({ job: asked.job, task: asked.task, seconds })
    return true
  } catch (error) {
    if (options.signal?.aborted) message.nak()
    else await refuse(queue, message, asked, error, options)
    return false
  } finally {
    clearInterval(heartbeat)
  }
}

async function doAsked(opened: OpenJob, { task: number }: TaskMessage, { signal }: ServeOptions): Promise<void> {
  checkAborted(signal, opened.job.files[0]!.name)
  const task = opened.tasks[number]
  if (!task) failWith(jobCodes.invalid, { file: opened.job.files[0]!.name, message: `it has no task ${number}` })
  // Another worker may have done it and died before it could say so.
  if (await opened.store.result(number)) {
    const done = await opened.store.done([task])
    if (done.has(number)) return
  }
  await doTask(opened, task, signal)
}

/** Failures of disks and networks may pass. What is wrong with the job stops it; a job that is gone is nobody's business any more. */
async function refuse(
  queue: Queue,
  message: JsMsg,
  asked: TaskMessage,
  error: unknown,
  options: ServeOptions,
): Promise<void> {
  const finding: Finding =
    error instanceof TareError
      ? error.finding
      : { code: jobCodes.queue.code, severity: 'error', file: asked.address, message: String(error) }
  options.onFailure?.(finding)
  if (finding.code === jobCodes.gone.code) return message.term('the job is gone')
  if (/^(io|remote)\//.test(finding.code) && finding.code !== ioCodes.changed.code) return message.nak(retryMs)
  const { code, severity, file, offset, length, path } = finding
  const failure: Finding = {
    ...{ code, severity, message: finding.message, file },
    ...(offset !== undefined && { offset }),
    ...(length !== undefined && { length }),
    ...(path !== undefined && { path }),
  }
  await publish(queue, asked, { task: asked.task, seconds: 0, failure }).catch(() => {})
  message.term('the job cannot be done')
}

async function publish(queue: Queue, { job, task }: TaskMessage, outcome: OutcomeMessage): Promise<void> {
  const msgID = outcome.failure ? {} : { msgID: `${job}-${task}-done` }
  await queue.client.publish(resultSubject(job), JSON.stringify(outcome), msgID)
}

/** Planning takes seconds for very large models, so jobs stay open. */
class OpenJobs {
  readonly #options: ServeOptions
  readonly #open = new Map<string, Promise<OpenJob>>()

  constructor(options: ServeOptions) {
    this.#options = options
  }

  async get({ job, address }: TaskMessage): Promise<OpenJob> {
    const known = this.#open.get(job)
    if (known) return known
    while (this.#open.size >= maxJobs) await this.#drop([...this.#open.keys()][0]!)
    const opening = this.#openOne(job, address)
    this.#open.set(job, opening)
    opening.catch(() => this.#open.delete(job))
    return opening
  }

  async #openOne(id: string, address: string): Promise<OpenJob> {
    const opened = await openForWork(address, this.#options, (job) => {
      if (job.id !== id)
        failWith(jobCodes.invalid, { file: address, path: 'id', message: `it is ${job.id}, not ${id}` })
      const { below } = this.#options
      const places = [job.output.directory, ...job.inputs.map((input) => input.address)]
      const outside = below && places.find((place) => !below.some((root) => isBelow(place, root)))
      if (outside !== undefined)
        failWith(jobCodes.invalid, { file: address, message: `${outside} is not below what this worker may touch` })
    })
    return opened
  }

  async #drop(id: string): Promise<void> {
    const opening = this.#open.get(id)
    this.#open.delete(id)
    await (await opening?.catch(() => undefined))?.close()
  }

  async close(): Promise<void> {
    for (const id of [...this.#open.keys()]) await this.#drop(id)
  }
}

const isBelow = (place: string, root: string): boolean => {
  const folder = root.replace(/\/+$/, '')
  return !place.split('/').includes('..') && (place === folder || place.startsWith(`${folder}/`))
}
