// What travels through the queue: a task by its number and the address of its job, and what became of it. Both are looked at before they are
// believed.
import type { Finding } from '../../errors/index.js'
import { count, fields, finding, finite, matching, parseAs, type Shape, text } from '../../jobs/shapes.js'

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
  'failure?': finding,
})

export const parseTask = (data: string): TaskMessage | undefined => parse(data, taskShape) as TaskMessage | undefined
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
