import type { StructValues } from '../../../bytes/index.js'
import type { indexEntry } from '../structs.js'

/** One tensor as the index describes it, before anything of it is believed. Lives only while it is being looked at. */
export interface Entry {
  readonly index: number
  readonly fields: StructValues<typeof indexEntry>
  readonly name: string
  readonly nameBytes: Uint8Array
  /** Whether the bytes are UTF-8; otherwise `name` is for showing only. */
  readonly isUtf8: boolean
  /** Dimensions that are too large for any file stay bigints. */
  readonly shape: readonly (number | bigint)[]
  /** File offset of the entry. */
  readonly at: number
}
