import type { Console } from './console.js'
import type { Verb } from './verbs.js'

/** What every verb gets besides its own words and options. */
export interface Context {
  readonly console: Console
  readonly signal: AbortSignal
  readonly verb: Verb
  readonly json: boolean
  readonly from: string | undefined
  readonly lenient: boolean
}
