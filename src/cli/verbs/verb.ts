import type { Context } from '../context.js'
import type { Flags } from '../flags/flag.js'
import type { Flagged } from '../flags/shared.js'
import type { Status } from '../status.js'

/** What the command line says about a verb: enough for the parser and for help. */
export interface Verb<F extends Flags = Flags> extends Flagged<F> {
  readonly name: string
  readonly summary: string
  /** The title that help lists it under. */
  readonly group?: string
  readonly description?: string
  readonly arguments: readonly { readonly name: string; readonly description: string }[]
  /** Takes the flags that formats declare for this. */
  readonly formatOptions?: 'write' | 'check'
  /** Help says what each format can repair. */
  readonly saysRepairs?: true
  /** What exit status 1 says about the input. */
  readonly no: string
  readonly examples: readonly (readonly [line: string, what: string])[]
}

/** Keeps the literal types of the flags, for `OptionsOf`. */
export const defineVerb = <const F extends Flags>(verb: Verb<F>): Verb<F> => verb

/** What a verb does with the words that are no flags, and with the values of its flags. */
export type Action<Options = Readonly<Record<string, unknown>>> = (
  context: Context,
  words: readonly string[],
  options: Options,
) => Promise<Status>

/** A verb whose action is loaded when it is called. */
export interface CallableVerb extends Verb {
  load(): Promise<{ readonly default: Action }>
}
