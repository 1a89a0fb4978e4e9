// What travels through the queue: a task by its number and the address of its job, or a look at a model as plain data; and what became of it.
// All are looked at before they are believed.
import type { Finding } from '../../errors/index.js'
import {
  anything,
  count,
  fields,
  finding,
  finite,
  flag,
  matching,
  parseAs,
  type Shape,
  text,
} from '../../jobs/shapes.js'

export interface TaskMessage {
  /** The id of the job. */
  readonly job: string
  /** Where the job file is. */
  readonly address: string
  readonly task: number
}

/** Something that threads do for a verb that only reads; here another machine does it. */
export interface LookMessage {
  /** The id of the run that waits for the answer. */
  readonly job: string
  readonly task: number
  readonly kind: string
  readonly data: unknown
}

export interface OutcomeMessage {
  readonly task: number
  readonly seconds: number
  /** What a look found. */
  readonly answer?: unknown
  /** How many bytes were looked at for it. */
  readonly bytes?: number | undefined
  /** The answer does not fit into a message. */
  readonly tooLong?: true | undefined
  /** Why the job cannot be done. */
  readonly failure?: Finding | undefined
  /** Why it could not be done there and then. */
  readonly trouble?: Finding | undefined
}

const id = matching(/^[0-9a-f]{16}$/, 'the id of a job')
const taskShape = fields({ job: id, address: text, task: count })
const lookShape = fields({ job: id, task: count, kind: text, data: anything })
const outcomeShape = fields({
  task: count,
  seconds: finite,
  'answer?': anything,
  'bytes?': count,
  'tooLong?': flag,
  'failure?': finding,
  'trouble?': finding,
})

export const parseTask = (data: string): TaskMessage | undefined => parse(data, taskShape) as TaskMessage | undefined
export const parseLook = (data: string): LookMessage | undefined => parse(data, lookShape) as LookMessage | undefined
export const parseOutcome = (data: string): OutcomeMessage | undefined =>
  parse(data, outcomeShape) as OutcomeMessage | undefined

/** Undefined for what nobody of ours has sent. */
function parse(data: string, shape: Shape): unknown {
  try {
    return parseAs(data, shape, (path, message) => {
      throw new Error(`${path}: ${message}`)
    })
  } catch {
    return undefined
  }
}

/** A finding with what can be sent of it. */
export function plainFinding({ code, severity, message, file, offset, length, path }: Finding): Finding {
  return {
    ...{ code, severity, message, file },
    ...(offset !== undefined && { offset }),
    ...(length !== undefined && { length }),
    ...(path !== undefined && { path }),
  }
}
