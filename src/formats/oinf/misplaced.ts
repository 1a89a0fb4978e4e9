// A defect of the reference encoder of version 2. It counts offsets as data 0, quantization 0, data 1, quantization 1 …, but writes all
// data first and all quantization after them. So whenever a quantized tensor is followed by another tensor, the records point at
// the wrong bytes. The sizes are right, and from them the real places follow.
import type { ByteSource, Range } from '../../bytes/index.js'
import { collectingReport } from '../../errors/index.js'
import type { QuantParams, Tensor } from '../../model/index.js'
import { fetchRanges } from './free-space.js'
import type { Header } from './header.js'
import { readQuant } from './quant.js'
import { aligned } from './structs.js'
import type { Tables } from './tables/tables.js'

export interface Placement {
  /** Where data begin, for tensors that have any. */
  readonly offsets: ReadonlyMap<Tensor, number>
  readonly quants: ReadonlyMap<Tensor, QuantParams>
}

/** The real places, when the records are exactly what the defect makes of them and all quantization is valid there. */
export async function findMisplaced(
  source: ByteSource,
  header: Header,
  { metadata, tensors, quants: stated }: Tables,
  signal: AbortSignal | undefined,
): Promise<Placement | undefined> {
  const start = metadata.reduce((end, { value }) => Math.max(end, aligned(value.end)), header.offsetData)
  if (!isCountedInTurn(tensors, stated, start)) return undefined
  let at = start
  const place = (length: number): Range => {
    const placed = { start: at, end: at + length }
    at = aligned(placed.end)
    return placed
  }
  const offsets = new Map<Tensor, number>()
  for (const tensor of tensors) if (tensor.data) offsets.set(tensor, place(tensor.data.byteLength).start)
  const ranges = new Map([...stated].map(([tensor, range]) => [tensor, place(range.end - range.start)]))
  if ([...ranges].every(([tensor, range]) => range.start === stated.get(tensor)!.start)) return undefined
  if (at > header.end) return undefined

  const bytes = await fetchRanges(source, [...ranges.values()], signal)
  const quants = new Map<Tensor, QuantParams>()
  const report = collectingReport(source.name, [])
  for (const [tensor, range] of ranges) {
    const quant = readQuant(bytes.get(range)!, tensor.shape, { offset: range.start, path: '' }, report)
    if (!quant) return undefined
    quants.set(tensor, quant)
  }
  return { offsets, quants }
}

/** Whether the stated offsets are those of data and quantization in turn, without gaps. */
function isCountedInTurn(tensors: Tables['tensors'], quants: Tables['quants'], start: number): boolean {
  let at = start
  for (const tensor of tensors) {
    const origin = tensor.data?.origin
    if (origin && origin.offset !== at) return false
    if (origin) at = aligned(at + origin.length)
    const quant = quants.get(tensor)
    if (quant && quant.start !== at) return false
    if (quant) at = aligned(quant.end)
  }
  return true
}
