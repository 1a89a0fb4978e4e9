import type { Context } from '../context.js'
import type { OptionRow } from '../flags/flag.js'
import type { Status } from '../status.js'

type Act = (context: Context, words: readonly string[], options: Readonly<Record<string, unknown>>) => Promise<Status>

/** What the command line says about a verb. What it does is loaded only when it is called. */
export interface Verb {
  readonly name: string
  readonly summary: string
  readonly description?: string
  readonly arguments: readonly { readonly name: string; readonly description: string }[]
  readonly options: readonly OptionRow[]
  /** Which flags of the formats belong to this verb. */
  readonly formatOptions?: 'write' | 'check'
  /** Help says what each format can repair. */
  readonly saysRepairs?: true
  readonly examples: readonly (readonly [line: string, what: string])[]
  load(): Promise<{ readonly default: Act }>
}
