// What travels through the queue: a task by its number and the address of its job, and what became of it. Both are looked at before they are
// believed.
import type { Finding } from '../../errors/index.js'
import { count, fields, finite, matching, oneOf, type Shape, text } from '../../jobs/shapes.js'

export interface TaskMessage {
  /** The id of the job. */
  readonly job: string
  /** Where the job file is. */
  readonly address: string
  readonly task: number
}

export interface OutcomeMessage {
  readonly task: number
  readonly seconds: number
  /** Why the job cannot be done. */
  readonly failure?: Finding | undefined
}

const taskShape = fields({ job: matching(/^[0-9a-f]{16}$/, 'the id of a job'), address: text, task: count })
const outcomeShape = fields({
  task: count,
  seconds: finite,
  'failure?': fields({
    code: text,
    severity: oneOf('error', 'warning', 'note'),
    message: text,
    file: text,
    'offset?': count,
    'length?': count,
    'path?': text,
  }),
})

export const parseTask = (data: string): TaskMessage | undefined => parse(data, taskShape) as TaskMessage | undefined
export const parseOutcome = (data: string): OutcomeMessage | undefined =>
  parse(data, outcomeShape) as OutcomeMessage | undefined

/** Undefined for what nobody of ours has sent. */
function parse(data: string, shape: Shape): unknown {
  try {
    const value: unknown = JSON.parse(data)
    shape(value, '', (path, message) => {
      throw new Error(`${path}: ${message}`)
    })
    return value
  } catch {
    return undefined
  }
}
