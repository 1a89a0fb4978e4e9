import type { StructValues } from '../../bytes/index.js'
import type { indexEntry } from './structs.js'

/** One tensor as the index describes it, before anything of it is believed. */
export interface Entry extends StructValues<typeof indexEntry> {
  readonly index: number
  readonly name: string
  /** The bytes of a name that is not UTF-8. */
  readonly rawName?: Uint8Array
  readonly shape: readonly bigint[]
  /** File offset of the entry. */
  readonly at: number
}
