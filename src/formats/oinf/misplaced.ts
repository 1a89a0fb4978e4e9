// A defect of the reference encoder of version 2. It counts offsets as data 0, quantization 0, data 1, quantization 1 …, but writes all
// data first and all quantization after them. So whenever a quantized tensor is followed by another tensor, the records point at
// the wrong bytes. The sizes are right, and from them the real places follow.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { QuantParams } from '../../model/index.js'
import { fetchRanges } from './free-space.js'
import type { Header } from './header.js'
import { readQuant } from './quant.js'
import type { Range } from './records.js'
import { aligned } from './structs.js'
import type { Tables } from './tables/tables.js'
import type { TensorTable } from './tensor-table.js'

/** By the positions of the tensors. */
export interface Placement {
  /** Where data begin, for tensors that have any. */
  readonly offsets: Float64Array
  readonly quants: ReadonlyMap<number, QuantParams>
}

/** The real places, when the records are exactly what the defect makes of them and all quantization is valid there. */
export async function findMisplaced(
  source: ByteSource,
  header: Header,
  tables: Tables,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const { metadata, tensors } = tables
  const start = metadata.reduce((end, value) => Math.max(end, aligned(value.offset + value.length)), header.offsetData)
  if (!isCountedInTurn(tensors, start)) return undefined
  let at = start
  const place = (length: number): Range => {
    const offset = at
    at = aligned(offset + length)
    return { offset, length }
  }
  const offsets = new Float64Array(tensors.tensors.length)
  for (const [i, { data }] of tensors.tensors.entries()) if (data) offsets[i] = place(data.byteLength).offset
  const stated = [...tensors.quants.values()]
  const ranges = stated.map(({ length }) => place(length))
  if (ranges.every(({ offset }, i) => offset === stated[i]!.offset)) return undefined
  if (at > header.end) return undefined

  const payloads = await fetchRanges(source, ranges, signal)
  const quants = new Map<number, QuantParams>()
  const findings: Finding[] = []
  const report = collectingReport(source.name, findings)
  for (const [i, position] of [...tensors.quants.keys()].entries()) {
    const { shape } = tensors.tensors.at(position)!
    const quant = readQuant(payloads[i]!, shape, { offset: ranges[i]!.offset, path: '' }, report)
    if (!quant) return undefined
    quants.set(position, quant)
  }
  return { offsets, quants }
}

/** Whether the stated offsets are those of data and quantization in turn, without gaps. */
function isCountedInTurn({ tensors, quants }: TensorTable, start: number): boolean {
  let at = start
  for (const [i, { data }] of tensors.entries()) {
    for (const range of [data?.origin, quants.get(i)]) {
      if (range && range.offset !== at) return false
      if (range) at = aligned(at + range.length)
    }
  }
  return true
}
