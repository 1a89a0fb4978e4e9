import type { Console } from './console/console.js'
import type { RemoteParts } from './input/open-named.js'

/** What every verb gets besides its own words and options. */
export interface Context {
  readonly console: Console
  readonly signal: AbortSignal
  readonly json: boolean
  readonly from: string | undefined
  readonly lenient: boolean
  /** Which addresses that an index names may be asked. */
  readonly remoteParts: RemoteParts
  /** How http addresses are asked. */
  readonly headers: Readonly<Record<string, string>>
  readonly cache: boolean
  /** How many threads large work may use; undefined: as many as there are cores. */
  readonly threads: number | undefined
}
