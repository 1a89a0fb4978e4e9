// NATS JetStream as the queue of jobs: two streams, of tasks and of what became of them. Its clients are optional packages, loaded when a queue
// is named. A password or token in the address is never shown.
import type { ConsumerInfo, JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { failWith } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import { packageVersion } from '../version.js'

export interface Queue {
  /** The address without what is secret. */
  readonly name: string
  readonly connection: NatsConnection
  readonly client: JetStreamClient
  readonly manager: JetStreamManager
  close(): Promise<void>
}

export const taskStream = 'TARE-TASKS'
export const resultStream = 'TARE-RESULTS'

/** Workers of one version take the tasks of that version, and no others. */
export const versionWord = (): string => packageVersion().replaceAll(/[^A-Za-z0-9]/g, '_')
export const taskSubject = (job: string): string => `tare.tasks.${versionWord()}.${job}`
export const resultSubject = (job: string): string => `tare.results.${job}`
export const consumerName = (): string => `workers-${versionWord()}`

const nanoseconds = 1e6
/** A worker says at least three times in this time that it is still at it; then somebody else gets its task. */
export const ackWait = 30_000
/** How long a queue remembers what it was given, in milliseconds. */
const memory = 2 * 3600_000
const keep = 7 * 24 * 3600_000
/** A task that failed this many times is not tried again. */
const maxDeliver = 20

export async function openQueue(
  address: string,
  options: { readonly ackWait?: number | undefined } = {},
): Promise<Queue> {
  const { name, settings } = parseQueue(address)
  const [{ connect }, jetstreams] = await load()
  const fail = (error: unknown): never =>
    failWith(jobCodes.queue, { file: name, message: `the queue cannot be used: ${reasonOf(error)}` }, { cause: error })
  const connection = await connect({ ...settings, name: 'tare', maxReconnectAttempts: -1, timeout: 10_000 }).catch(fail)
  try {
    const manager = await jetstreams.jetstreamManager(connection)
    const shared = {
      storage: jetstreams.StorageType.File,
      duplicate_window: memory * nanoseconds,
      max_age: keep * nanoseconds,
    }
    await ensureStream(manager, {
      ...shared,
      name: taskStream,
      subjects: ['tare.tasks.>'],
      retention: jetstreams.RetentionPolicy.Workqueue,
    })
    await ensureStream(manager, { ...shared, name: resultStream, subjects: ['tare.results.>'] })
    await manager.consumers.add(taskStream, {
      durable_name: consumerName(),
      filter_subject: `tare.tasks.${versionWord()}.>`,
      ack_policy: jetstreams.AckPolicy.Explicit,
      ack_wait: (options.ackWait ?? ackWait) * nanoseconds,
      max_deliver: maxDeliver,
      max_ack_pending: 100_000,
    })
    return { name, connection, client: jetstreams.jetstream(connection), manager, close: () => connection.close() }
  } catch (error) {
    await connection.close()
    return fail(error)
  }
}

type StreamConfig = Parameters<JetStreamManager['streams']['add']>[0]

/** Streams stay as their owner made them, if they are there. */
async function ensureStream(manager: JetStreamManager, config: StreamConfig): Promise<void> {
  const isThere = await manager.streams.info(config.name!).then(
    () => true,
    () => false,
  )
  if (!isThere) await manager.streams.add(config)
}

/** Tasks of this version that nobody has done: waiting, or being done. */
export async function openTasks({
  manager,
}: Queue): Promise<Pick<ConsumerInfo, 'num_pending' | 'num_ack_pending' | 'num_waiting'>> {
  return manager.consumers.info(taskStream, consumerName())
}

interface Settings {
  readonly servers: string
  readonly user?: string
  readonly pass?: string
  readonly token?: string
  readonly tls?: object
}

/** `nats://user:password@host:4222`, `nats://token@host`, or `tls:` for either. */
export function parseQueue(address: string): { readonly name: string; readonly settings: Settings } {
  const isQueue = /^(nats|tls):\/\//i.test(address)
  const plain = address.replace(/^\w+:/, 'http:')
  const url = isQueue && URL.canParse(plain) ? new URL(plain) : undefined
  const [user, pass] = [decoded(url?.username), decoded(url?.password)]
  if (!url || user === undefined || pass === undefined)
    return failWith(jobCodes.queue, {
      file: 'queue',
      message: 'this is not the address of a queue; one looks like nats://host:4222',
    })
  const servers = `${url.hostname}:${url.port || '4222'}`
  const isTls = /^tls:/i.test(address)
  const credentials = user === '' ? {} : pass === '' ? { token: user } : { user, pass }
  return {
    name: `${isTls ? 'tls' : 'nats'}://${servers}`,
    settings: { servers, ...credentials, ...(isTls && { tls: {} }) },
  }
}

/** Undefined where a percent sign is not followed by two digits. */
function decoded(part = ''): string | undefined {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

async function load() {
  try {
    return await Promise.all([import('@nats-io/transport-node'), import('@nats-io/jetstream')])
  } catch (error) {
    const message = 'a queue needs two packages; run `npm install @nats-io/transport-node @nats-io/jetstream`'
    return failWith(jobCodes.queue, { file: '@nats-io/jetstream', message }, { cause: error })
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 200)
