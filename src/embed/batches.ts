// Batches texts of similar length, so that little is computed for padding.
import type { Batch } from './engine.js'

export interface Row {
  /** The index of the result. */
  readonly index: number
  readonly ids: readonly number[]
}

export interface PlannedBatch {
  readonly rows: readonly Row[]
  readonly batch: Batch
}

/**
 * Memory grows with the number of ids in a batch, and attention with the square of their length: full batches of rows much longer than this
 * would take several times the memory of the weights and save no time.
 */
const typicalLength = 32

/**
 * The rows in batches, shortest first: at most `batchSize` rows, and fewer long rows, so that no batch has more ids than `batchSize` rows
 * of typical length. Each batch is as wide as its longest row; `counts` says which ids are not padding.
 */
export function* planBatches(
  rows: readonly Row[],
  batchSize: number,
  pad: number,
  counts: (id: number) => boolean,
): Generator<PlannedBatch> {
  const sorted = rows.toSorted((a, b) => a.ids.length - b.ids.length || a.index - b.index)
  for (let first = 0; first < sorted.length; ) {
    let end = first + 1
    const fits = (row: Row | undefined): boolean =>
      row !== undefined && (end - first + 1) * Math.max(typicalLength, row.ids.length) <= batchSize * typicalLength
    while (fits(sorted[end])) end++
    const members = sorted.slice(first, end)
    yield { rows: members, batch: fill(members, pad, counts) }
    first = end
  }
}

function fill(rows: readonly Row[], pad: number, counts: (id: number) => boolean): Batch {
  const length = rows.at(-1)!.ids.length
  const ids = new BigInt64Array(rows.length * length).fill(BigInt(pad))
  const mask = new BigInt64Array(rows.length * length)
  for (const [i, row] of rows.entries()) {
    for (const [j, id] of row.ids.entries()) {
      ids[i * length + j] = BigInt(id)
      mask[i * length + j] = counts(id) ? 1n : 0n
    }
  }
  return { count: rows.length, length, ids, mask }
}
