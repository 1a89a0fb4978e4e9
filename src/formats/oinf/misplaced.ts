// A defect of the reference encoder of version 2. It counts offsets as data 0, quantization 0, data 1, quantization 1 …, but writes all
// data first and all quantization after them. So whenever a quantized tensor is followed by another tensor, the records point at
// the wrong bytes. The sizes are right, and from them the real places follow.
import type { ByteSource } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { QuantParams } from '../../model/index.js'
import { fetchRanges } from './blobs.js'
import type { Header } from './header.js'
import { readQuant } from './quant.js'
import type { Range, TensorRecord } from './records.js'
import { aligned } from './structs.js'
import type { Tables } from './tables.js'

export interface Placement {
  readonly data: ReadonlyMap<TensorRecord, Range>
  readonly quants: ReadonlyMap<TensorRecord, QuantParams>
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
  const place = (range: Range): Range => {
    const { length } = range
    const offset = at
    at = aligned(offset + length)
    return { offset, length }
  }
  const data = new Map<TensorRecord, Range>()
  for (const record of tensors) if (record.data) data.set(record, place(record.data))
  const quantized = tensors.filter((record) => record.quant)
  const ranges = quantized.map((record) => place(record.quant!))
  if (ranges.every(({ offset }, i) => offset === quantized[i]!.quant!.offset)) return undefined
  if (at > header.end) return undefined

  const payloads = await fetchRanges(source, ranges, signal)
  const quants = new Map<TensorRecord, QuantParams>()
  const findings: Finding[] = []
  const report = collectingReport(source.name, findings)
  for (const [i, record] of quantized.entries()) {
    const quant = readQuant(payloads[i]!, record.shape, { offset: ranges[i]!.offset, path: '' }, report)
    if (!quant) return undefined
    quants.set(record, quant)
  }
  return { data, quants }
}

/** Whether the stated offsets are those of data and quantization in turn, without gaps. */
function isCountedInTurn(tensors: readonly TensorRecord[], start: number): boolean {
  let at = start
  for (const { data, quant } of tensors) {
    for (const range of [data, quant]) {
      if (range && range.offset !== at) return false
      if (range) at = aligned(at + range.length)
    }
  }
  return true
}
