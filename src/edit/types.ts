import type { Conversion } from '../convert/plan.js'
import type { WriteOptions } from '../model/index.js'
import type { EditChange } from './apply-edits.js'
import type { FilePatch } from './layout-patches.js'

export interface EditOptions {
  /** The file name of the output. */
  readonly name: string
  /** False: always rewrite the file. */
  readonly inPlace?: boolean | undefined
  readonly extra?: WriteOptions['extra']
  readonly signal?: AbortSignal | undefined
}

/** An edit before it is carried out. */
export interface PlannedEdit {
  readonly changes: readonly EditChange[]
  /** The in-place change; undefined when the file must be rewritten. */
  readonly patch?: FilePatch | undefined
  /** The rewrite. */
  readonly conversion: Conversion
  /** Set if only the model's main file changes, however many files it has. */
  readonly isOfMainFile?: true
}
