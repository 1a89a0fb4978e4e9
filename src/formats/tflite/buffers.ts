// The buffers of a model: data inside the tables, or, in files that may be larger than 2 GB, behind them.
import { inOrder, overlaps } from '../../bytes/index.js'
import type { Flatbuffer, Table } from '../../wire/flatbuffers/flatbuffer.js'
import { ownCodes as codes } from './codes.js'

export interface StoredBuffer {
  readonly offset: number
  readonly length: number
  readonly path: string
  /** Where it is named, if its data are not in the file. */
  readonly missing?: string
}

/** Buffers in order; offset and size of data behind the tables count if the offset is more than 1. */
export async function readBuffers(file: Flatbuffer, model: Table, isSalvaging: boolean): Promise<StoredBuffer[]> {
  const buffers: StoredBuffer[] = []
  for await (const table of model.tables(4, 'buffers')) {
    const { path } = table
    const place = table.size(1, 'offset')
    if (place <= 1) {
      const { offset, count } = await table.vector(0, 1, 'data', false)
      buffers.push({ offset, length: count, path })
      continue
    }
    const length = table.size(2, 'size')
    if (place + length > file.source.size) {
      const message = `bytes ${place} to ${place + length} are named, the file has ${file.source.size}`
      const details = { offset: table.offset, path, message, needs: place + length }
      if (!isSalvaging) file.report.fail(codes.buffer, details)
      file.report.report(codes.buffer, details)
      buffers.push({ offset: 0, length: 0, path, missing: message })
      continue
    }
    buffers.push({ offset: place, length, path })
  }
  checkOverlaps(file, buffers)
  return buffers
}

/** Writers share equal buffers; buffers that share a part of their bytes are none of theirs. */
function checkOverlaps({ report }: Flatbuffer, buffers: readonly StoredBuffer[]): void {
  const ranges = buffers.map(({ offset, length, path }) => ({ start: offset, end: offset + length, path }))
  for (const [before, range] of overlaps(inOrder(ranges))) {
    if (before.start === range.start && before.end === range.end) continue
    const details = { offset: range.start, length: range.end - range.start, path: range.path }
    report.report(codes.overlap, { ...details, message: `it lies on ${before.path}` })
  }
}
