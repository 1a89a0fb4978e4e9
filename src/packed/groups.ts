// Columns in groups, each with a scale of its own. Columns that were sorted before they were quantized have a list that says which group each
// is in.
import { viewOf } from '../bytes/views.js'
import { i32 } from '../dtypes/index.js'
import type { Tensor } from '../model/index.js'
import { refusePacked, shapeOf } from './refusal.js'

/** The group of each column, from a list in the file or by counting. */
export type Groups = (list?: Uint8Array) => Int32Array

export function columnGroups(columns: number, count: number, size: number, list?: Tensor): Groups {
  if (list && (list.dtype !== i32 || list.shape.length !== 1 || list.shape[0] !== columns))
    refusePacked(
      list,
      `its shape is ${shapeOf(list)} of ${list.dtype.id}; a group for each of ${columns} columns was expected`,
    )
  let counted: Int32Array | undefined
  return (bytes) => {
    const isListed = list !== undefined && bytes !== undefined
    const groups = isListed ? viewOf(Int32Array, bytes, columns) : undefined
    // A list that was never filled in.
    if (groups && !(columns > 0 && groups[0] === -1)) {
      const wrong = groups.findIndex((group) => group < 0 || group >= count)
      if (wrong >= 0) refusePacked(list!, `column ${wrong} is in group ${groups[wrong]} of ${count}`)
      return groups
    }
    counted ??= Int32Array.from({ length: columns }, (_, column) => Math.floor(column / size))
    return counted
  }
}

/** How many columns share a scale, where there are `count` scales in a row. The size may be stated; -1 means all. */
export function groupSize(scales: Tensor, columns: number, count: number, stated: number | undefined): number {
  const size = stated === undefined || stated <= 0 ? Math.ceil(columns / Math.max(1, count)) : stated
  if (count === 0 || Math.ceil(columns / size) !== count)
    refusePacked(scales, `${count} groups of ${size} columns were found where a row has ${columns} columns`)
  return size
}
