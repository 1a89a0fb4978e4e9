// What the records of the tables say, once they are read and checked.
import type { DType } from '../../dtypes/index.js'

export interface Range {
  readonly offset: number
  readonly length: number
}

export interface MetadataRecord extends Range {
  /** Position in the table, for paths. */
  readonly index: number
  readonly key: string
  readonly type: number
}

export interface TensorRecord {
  readonly index: number
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
  readonly exactShape?: readonly bigint[] | undefined
  readonly data: Range | undefined
  readonly quant: Range | undefined
}
