// Serves a queue: takes tasks one by one, does them, and says so. A worker that dies or hangs stops saying that it is at work, and the queue
// gives its task to another one. Doing a task twice gives the same bytes.
import type { JsMsg } from '@nats-io/jetstream'
import { checkAborted } from '../../bytes/index.js'
import { type Finding, failWith, ioCodes, TareError } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import type { OpenJob } from '../../jobs/open-job.js'
import { doTask } from '../../jobs/work.js'
import { openInput } from '../input.js'
import { type JobRunOptions, openForWork } from '../jobs/index.js'
import { send } from './answers.js'
import { ackWait, consumerName, openQueue, type Queue, resultSubject, taskStream } from './connection.js'
import { Looks } from './look.js'
import {
  type LookMessage,
  type OutcomeMessage,
  parseLook,
  parseTask,
  plainFinding,
  type TaskMessage,
} from './messages.js'
import { toPlain } from './plain.js'

type Asked = TaskMessage | LookMessage

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
  const looks = new Looks({
    open: (place) => openInput(place, options),
    assertAllowed: (place) => assertBelow(place, options, place),
    ...options,
  })
  let done = 0
  let lastWork = Date.now()
  // Looks take one thread each; a part of an output uses all of them.
  const lanes = options.pool?.threads ?? 1
  const running = new Set<Promise<void>>()
  const take = async (message: JsMsg, work: (asked: JsMsg) => Promise<boolean>): Promise<void> => {
    if (await work(message)) done++
    lastWork = Date.now()
  }
  try {
    const consumer = await queue.client.consumers.get(taskStream, consumerName())
    while (!options.signal?.aborted) {
      // Fails while the server is away; the client connects again by itself.
      const message = await consumer.next({ expires: waitMs }).catch(() => null)
      if (!message) {
        const isIdle = options.idle !== undefined && Date.now() - lastWork > options.idle * 1000
        if (isIdle && running.size === 0) break
        if (queue.connection.isClosed())
          failWith(jobCodes.queue, { file: queue.name, message: 'the connection was closed' })
        continue
      }
      const look = parseLook(message.string())
      if (look) {
        const looking: Promise<void> = take(message, () => handleLook(queue, looks, message, look, options)).finally(
          () => running.delete(looking),
        )
        running.add(looking)
        if (running.size >= lanes) await Promise.race(running)
      } else await take(message, () => handle(queue, jobs, message, options))
    }
    return done
  } finally {
    await Promise.allSettled(running)
    await jobs.close()
    await looks.close()
    await queue.close().catch(() => {})
  }
}

async function handle(queue: Queue, jobs: OpenJobs, message: JsMsg, options: ServeOptions): Promise<boolean> {
  const asked = parseTask(message.string())
  if (!asked) {
    message.term('this is not a task of tare')
    return false
  }
  return withHeartbeat(queue, message, asked, options, async () => {
    await doAsked(await jobs.get(asked), asked, message.redelivered, options)
    return {}
  })
}

function handleLook(
  queue: Queue,
  looks: Looks,
  message: JsMsg,
  asked: LookMessage,
  options: ServeOptions,
): Promise<boolean> {
  return withHeartbeat(queue, message, asked, options, async () => {
    const { answer, bytes } = await looks.look(asked)
    const found = { answer: answer === undefined ? null : toPlain(answer), bytes }
    const limit = queue.connection.info?.max_payload ?? 1 << 20
    const isTooLong = Buffer.byteLength(JSON.stringify(found)) > limit - 1000
    return isTooLong ? { tooLong: true } : found
  })
}

async function withHeartbeat(
  queue: Queue,
  message: JsMsg,
  asked: Asked,
  options: ServeOptions,
  work: () => Promise<Partial<OutcomeMessage>>,
): Promise<boolean> {
  const heartbeat = setInterval(() => message.working(), (options.ackWait ?? ackWait) / 3)
  const started = performance.now()
  try {
    const found = await work().catch((error) => ({ error }))
    if ('error' in found) {
      if (options.signal?.aborted) message.nak()
      else await refuse(queue, message, asked, found.error, options)
      return false
    }
    const seconds = (performance.now() - started) / 1000
    // That the server is away says nothing about the task.
    await publish(queue, asked, { task: asked.task, seconds, ...found }, options)
    message.ack()
    options.onTask?.({ job: asked.job, task: asked.task, seconds })
    return true
  } finally {
    clearInterval(heartbeat)
  }
}

async function doAsked(
  opened: OpenJob,
  { task: number }: TaskMessage,
  isAgain: boolean,
  { signal }: ServeOptions,
): Promise<void> {
  checkAborted(signal, opened.job.files[0]!.name)
  const task = opened.tasks[number]
  if (!task) failWith(jobCodes.invalid, { file: opened.job.files[0]!.name, message: `it has no task ${number}` })
  // Another worker may have done it and died before it could say so.
  if (isAgain && (await opened.store.done([task])).has(number)) return
  await doTask(opened, task, signal)
}

/** Failures of disks and networks may pass. What is wrong with the job stops it; a job that is gone is nobody's business any more. */
async function refuse(
  queue: Queue,
  message: JsMsg,
  asked: Asked,
  error: unknown,
  options: ServeOptions,
): Promise<void> {
  const finding: Finding =
    error instanceof TareError
      ? error.finding
      : { code: jobCodes.queue.code, severity: 'error', file: `task ${asked.task}`, message: String(error) }
  options.onFailure?.(finding)
  if (finding.code === jobCodes.gone.code) return message.term('the job is gone')
  const mayPass = /^(io|remote)\//.test(finding.code) && finding.code !== ioCodes.changed.code
  const outcome = { task: asked.task, seconds: 0, [mayPass ? 'trouble' : 'failure']: plainFinding(finding) }
  await publish(queue, asked, outcome, options)
  if (mayPass) message.nak(retryMs)
  else message.term('the job cannot be done')
}

async function publish(
  queue: Queue,
  { job, task }: Asked,
  outcome: OutcomeMessage,
  { signal }: ServeOptions,
): Promise<void> {
  const hasFailed = outcome.failure !== undefined || outcome.trouble !== undefined
  const msgID = hasFailed ? undefined : `${job}-${task}-done`
  // What ends the worker, or its connection, is told by others; the task is handed out again.
  await send(queue, resultSubject(job), outcome, { msgID, signal }).catch(() => {})
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
      for (const place of [job.output.directory, ...job.inputs.map((input) => input.address)])
        assertBelow(place, this.#options, address)
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

function assertBelow(place: string, { below }: ServeOptions, file: string): void {
  if (!below || below.some((root) => isBelow(place, root))) return
  failWith(jobCodes.invalid, { file, message: `${place} is not below what this worker may touch` })
}

const isBelow = (place: string, root: string): boolean => {
  const folder = root.replace(/\/+$/, '')
  return !place.split('/').includes('..') && (place === folder || place.startsWith(`${folder}/`))
}
