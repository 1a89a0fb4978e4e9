import type { ByteSource, OptionValues, WorkerPool } from '../kit-node.js'
import type { Console } from './console/console.js'
import type { OptionsOf } from './flags/flag.js'
import type { commonFlags } from './flags/shared.js'

type CommonOptions = OptionsOf<typeof commonFlags>

/** What every verb gets besides its own words and options. */
export interface Context {
  readonly console: Console
  readonly signal: AbortSignal
  /** The version and the words of the command line. */
  readonly invocation: readonly string[]
  readonly json: boolean
  readonly from: CommonOptions['from']
  readonly lenient: boolean
  /** Which addresses that an index names may be fetched: none, those of the public network, or any. */
  readonly remoteParts: CommonOptions['remoteParts']
  /** Sent with requests to http addresses. */
  readonly headers: Readonly<Record<string, string>>
  readonly cache: boolean
  /** How many threads large work may use; undefined: as many as there are cores. */
  readonly threads: number | undefined
  /** The threads of this command, shared by all of its work. None is started before there is something to do for it. */
  readonly pool: WorkerPool | undefined
  /** Makes an input known to those who work for this command on other machines. */
  readonly share?: ((source: ByteSource, input: string) => ByteSource) | undefined
  /** Values of flags that formats declare, under the names that formats know. */
  readonly formatOptions: OptionValues
}
