// The tensors: TensorIndex, TensorData and QuantInfo together. A file without any of them is a container of other sections, which is fine.
import { type ByteSource, gaps, inOrder, isSameRange, overlaps, type Range } from '../../../bytes/index.js'
import type { QuantInfo } from '../../../dtypes/mcf/types.js'
import type { ReadContext, Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { Container } from '../container.js'
import { isBlockType } from '../dtypes.js'
import { type QuantRecord, readQuantInfo } from '../quant/quant-info.js'
import { rangeOf, type Section, sectionTypes } from '../sections.js'
import { flagAligned64, header, quantRecord } from '../structs.js'
import { alignmentOf, blockAlignment } from '../write/place.js'
import { type Entry, readTensorIndex } from './tensor-index.js'
import { toTensor } from './to-tensor.js'

/** `sections` are those that count, by type. */
export async function readTensors(
  source: ByteSource,
  container: Pick<Container, 'header' | 'directory'>,
  sections: ReadonlyMap<number, Section>,
  context: ReadContext,
): Promise<readonly Tensor[]> {
  const index = sections.get(sectionTypes.tensorIndex)
  const data = sections.get(sectionTypes.tensorData)
  const quant = sections.get(sectionTypes.quantInfo)
  const { offset } = container.directory
  if (!index) {
    if (!data && !quant) return []
    const message = `there is ${data ? 'TensorData' : 'QuantInfo'}, but no index to say what is in it`
    return context.report.fail(codes['store-missing-tensor-index'], { offset, path: 'sections', message })
  }
  const { count, entries } = await readTensorIndex(source, index, context)
  const tensors: Tensor[] = []
  const listed = new Map<number, Listed>()
  for (const entry of entries) {
    const tensor = data && toTensor(entry, source, data, context)
    if (quant) listed.set(entry.index, { entry, position: tensor && tensors.length })
    if (tensor) tensors.push(tensor)
  }
  if (!data) {
    const message = `${count} tensors are listed, but there is no section with their data`
    return context.report.fail(codes['store-missing-tensor-data'], { offset, path: 'sections', message })
  }
  checkFlag(container.header.flags, tensors, context)
  recordPadding(source, tensors, rangeOf(data), context)
  checkTensorOverlap(tensors, context)
  if (quant) linkRecords(await readQuantInfo(source, quant, context), count, listed, tensors, context)
  return tensors
}

/** An entry of the index, and where its tensor stands in the list, if it is there. */
interface Listed {
  readonly entry: Entry
  readonly position: number | undefined
}

function checkFlag(flags: bigint, tensors: readonly Tensor[], { report }: ReadContext): void {
  if (flags % 2n === flagAligned64) return
  const block = tensors.find(({ dtype }) => isBlockType(dtype))
  if (!block) return
  const message = `${JSON.stringify(block.name)} is ${block.dtype.id}, but flag 0 is not set`
  const place = { offset: header.offsetOf('flags'), length: 8, path: 'header.flags' }
  report.report(codes['quant-needs-flag'], { ...place, message })
}

export interface TensorRange extends Range {
  readonly name: string
}

/** Where the tensors lie, in the order of the file. */
export const rangesOf = (tensors: readonly Tensor[]): readonly TensorRange[] =>
  inOrder(
    tensors.flatMap(({ name, data }) => {
      const origin = data?.origin
      return origin ? [{ name, start: origin.offset, end: origin.offset + origin.length }] : []
    }),
  )

/** Short gaps between tensors are padding; longer ones stay gaps in the byte map. */
function recordPadding(source: ByteSource, tensors: readonly Tensor[], data: Range, { extents }: ReadContext): void {
  if (!extents) return
  const limit = Math.max(blockAlignment, alignmentOf(tensors, data) ?? 0)
  for (const { start, end } of gaps(rangesOf(tensors), data.start, data.end)) {
    const place = { file: source.name, offset: start, length: end - start }
    if (place.length < limit) extents.add({ ...place, path: 'tensor_data.padding', kind: 'padding' })
  }
}

/**
 * Tensors may have the same place, down to the last byte: that is how equal ones are stored once. Any other overlap is damage, or the work
 * of a writer that has lost count: a change to one tensor changes another. One finding tells about the first and how many there are.
 */
function checkTensorOverlap(tensors: readonly Tensor[], { report }: ReadContext): void {
  const found = [...overlaps(rangesOf(tensors))].filter(([before, range]) => !isSameRange(before, range))
  if (!found[0]) return
  const [before, { name, start, end }] = found[0]
  const length = Math.min(before.end, end) - start
  const more = found.length > 1 ? `, and ${found.length - 1} more tensors are like it` : ''
  const message = `${JSON.stringify(name)} shares ${length} bytes with ${JSON.stringify(before.name)}${more}`
  report.report(codes['tensor-overlap'], { offset: start, length, path: `data[${JSON.stringify(name)}]`, message })
}

/** Gives each tensor the first record about it. */
function linkRecords(
  records: readonly QuantRecord[],
  count: number,
  listed: ReadonlyMap<number, Listed>,
  tensors: Tensor[],
  { report }: ReadContext,
): void {
  const linked = new Set<number>()
  for (const record of records) {
    const { tensorIndex, method, at } = record
    const path = `quant_info.records[${record.index}]`
    const { entry, position } = listed.get(tensorIndex) ?? {}
    if (tensorIndex >= count) {
      const message = `it is about tensor ${tensorIndex}, but there are ${count}`
      const place = { offset: at, length: 4, path: `${path}.tensor_index` }
      report.report(codes['record-index-out-of-range'], { ...place, message })
    } else if (entry && entry.fields.dtype !== method) {
      const types = `0x${method.toString(16)}, the tensor's type is 0x${entry.fields.dtype.toString(16)}`
      const message = `${JSON.stringify(entry.name)}: the method is ${types}`
      const place = { offset: at + quantRecord.offsetOf('method'), length: 1, path: `${path}.method` }
      report.report(codes['record-method-mismatch'], { ...place, message })
    } else if (linked.has(tensorIndex)) {
      const message = `tensor ${tensorIndex} has a record already`
      report.report(codes['quantinfo-duplicate-record'], { offset: at, length: quantRecord.size, path, message })
    } else {
      linked.add(tensorIndex)
      if (position !== undefined)
        tensors[position] = { ...tensors[position]!, extra: { quantInfo: toQuantInfo(record) } }
    }
  }
}

const toQuantInfo = ({ domain, minClip, maxClip }: QuantRecord): QuantInfo => ({
  domain: domain === 1 ? 'activations' : 'weights',
  minClip: Number.isFinite(minClip) ? minClip : String(minClip),
  maxClip: Number.isFinite(maxClip) ? maxClip : String(maxClip),
})
