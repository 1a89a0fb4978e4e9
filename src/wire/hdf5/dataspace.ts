import { type Cursor, countElements } from '../../bytes/index.js'
import { hdf5Codes as codes } from './codes.js'
import { type Hdf5File, numberIn } from './file.js'

/** HDF5 has no more. */
const maxRank = 32

export interface Dataspace {
  readonly shape: readonly number[]
  /** How far it can grow. A dimension without an end is as it is now. */
  readonly maxShape: readonly number[]
}

/** Undefined for a space that holds nothing at all. */
export function readDataspace(file: Hdf5File, cursor: Cursor): Dataspace | undefined {
  const { offset } = cursor
  const version = file.version(cursor, [1, 2], 'dataspace_version')
  const rank = cursor.u8('rank')
  const flags = cursor.u8('flags')
  const kind = version === 2 ? cursor.u8('kind') : 1
  if (version === 1) cursor.raw(5, 'reserved')
  if (kind === 2) return undefined
  const details = { offset, path: cursor.pathOf('dataspace') }
  if (rank > maxRank) file.report.fail(codes.dataspace, { ...details, message: `${rank} dimensions, 32 are possible` })
  const shape = Array.from({ length: rank }, (_, i) => file.length(cursor, `dims[${i}]`))
  const most = flags & 1 ? shape.map((_, i) => numberIn(cursor.raw(file.lengthSize, `max_dims[${i}]`))) : []
  if (!shape.includes(0) && countElements(shape) === undefined) {
    const message = `[${shape.join(', ')}] is more than any file can hold`
    file.report.fail(codes.dataspace, { ...details, message })
  }
  return { shape, maxShape: shape.map((dim, i) => most[i] ?? dim) }
}
