// The tensors: TensorIndex, TensorData and QuantInfo together. A file without any of them is a container of other sections, which is fine.
import { type ByteSource, compareBytes, compareUtf8, encodeUtf8 } from '../../bytes/index.js'
import type { QuantInfo } from '../../dtypes/mcf/types.js'
import type { ReadContext, Tensor, TensorList } from '../../model/index.js'
import { codes } from './codes.js'
import type { Container } from './container.js'
import { blockAlignment, findAlignment } from './place.js'
import { type FoundRecord, readQuantInfo } from './quant-info.js'
import { type Section, sectionTypes } from './sections.js'
import { flagAligned64, header, quantRecord } from './structs.js'
import { readTensorIndex } from './tensor-index.js'
import { isBlockType, toTensor } from './tensors.js'

export async function readStore(
  source: ByteSource,
  container: Container,
  sections: ReadonlyMap<number, Section>,
  context: ReadContext,
): Promise<Tensor[]> {
  const index = sections.get(sectionTypes.tensorIndex)
  const data = sections.get(sectionTypes.tensorData)
  const quant = sections.get(sectionTypes.quantInfo)
  const { offset } = container.directory
  if (!index) {
    if (!data && !quant) return []
    const message = `there is ${data ? 'TensorData' : 'QuantInfo'}, but no index to say what is in it`
    return context.report.fail(codes['store-missing-tensor-index'], { offset, path: 'sections', message })
  }
  const listed: Listed = []
  const count = await readTensorIndex(source, index, context, (entry) => {
    const tensor = data && toTensor(entry, source, data, context)
    listed[entry.index] = { tensor, name: entry.name, dtype: entry.fields.dtype }
  })
  if (!data) {
    const message = `${count} tensors are listed, but there is no section with their data`
    return context.report.fail(codes['store-missing-tensor-data'], { offset, path: 'sections', message })
  }
  const tensors = listed.flatMap(({ tensor }) => tensor ?? [])
  checkFlag(container, tensors, context)
  recordPadding(source, data, tensors, context)
  if (!quant) return tensors
  const records = linkRecords(await readQuantInfo(source, quant, context), listed, count, context)
  return listed.flatMap(({ tensor }, i) => {
    const record = records.get(i)
    return tensor && record ? { ...tensor, extra: { quantInfo: toQuantInfo(record) } } : (tensor ?? [])
  })
}

/** By position; entries that could not be read are missing. */
type Listed = { readonly tensor: Tensor | undefined; readonly name: string; readonly dtype: number }[]

function checkFlag(container: Container, tensors: TensorList, { report }: ReadContext): void {
  const block = tensors.find((tensor) => isBlockType(tensor.dtype))
  if (!block || container.header.flags % 2n === flagAligned64) return
  const message = `${JSON.stringify(block.name)} is ${block.dtype.id}, but flag 0 is not set`
  const place = { offset: header.offsetOf('flags'), length: 8, path: 'header.flags' }
  report.report(codes['quant-needs-flag'], { ...place, message })
}

/** The first record of each entry, by the entry's position. */
function linkRecords(
  records: readonly FoundRecord[],
  listed: Readonly<Listed>,
  count: number,
  { report }: ReadContext,
): Map<number, FoundRecord> {
  const linked = new Map<number, FoundRecord>()
  for (const record of records) {
    const { tensorIndex, method, at } = record
    const path = `quant_info.records[${record.index}]`
    const entry = listed[tensorIndex]
    if (tensorIndex >= count) {
      const message = `it is about tensor ${tensorIndex}, but there are ${count}`
      const place = { offset: at, length: 4, path: `${path}.tensor_index` }
      report.report(codes['record-index-out-of-range'], { ...place, message })
    } else if (entry && entry.dtype !== method) {
      const types = `0x${method.toString(16)}, the tensor's type is 0x${entry.dtype.toString(16)}`
      const message = `${JSON.stringify(entry.name)}: the method is ${types}`
      const place = { offset: at + quantRecord.offsetOf('method'), length: 1, path: `${path}.method` }
      report.report(codes['record-method-mismatch'], { ...place, message })
    } else if (linked.has(tensorIndex)) {
      const message = `tensor ${tensorIndex} has a record already`
      report.report(codes['quantinfo-duplicate-record'], { offset: at, length: quantRecord.size, path, message })
    } else linked.set(tensorIndex, record)
  }
  return linked
}

const toQuantInfo = ({ domain, minClip, maxClip }: FoundRecord): QuantInfo => ({
  domain: domain === 1 ? 'activations' : 'weights',
  minClip: Number.isFinite(minClip) ? minClip : String(minClip),
  maxClip: Number.isFinite(maxClip) ? maxClip : String(maxClip),
})

/** Short gaps between tensors are padding; longer ones stay gaps in the byte map. */
function recordPadding(source: ByteSource, data: Section, tensors: TensorList, { extents }: ReadContext): void {
  if (!extents) return
  const longest = Math.max(blockAlignment, alignmentOf(tensors, data) ?? 0)
  const ranges = tensors.flatMap(({ data: payload }) => (payload?.origin ? [payload.origin] : []))
  let at = data.offset
  const fill = (end: number): void => {
    const gap = { offset: at, length: end - at }
    if (gap.length > 0 && gap.length < longest)
      extents.add({ file: source.name, ...gap, path: 'tensor_data.padding', kind: 'padding' })
  }
  for (const { offset, length } of ranges.toSorted((a, b) => a.offset - b.offset)) {
    fill(offset)
    at = Math.max(at, offset + length)
  }
  fill(data.offset + data.size)
}

/** Tensors by the bytes of their names. */
export function byName(tensors: TensorList): Tensor[] {
  if (tensors.every(({ rawName }) => !rawName)) return tensors.toSorted((a, b) => compareUtf8(a.name, b.name))
  const named = tensors.map((tensor) => ({ tensor, bytes: tensor.rawName?.[0] ?? encodeUtf8(tensor.name) }))
  return named.sort((a, b) => compareBytes(a.bytes, b.bytes)).map(({ tensor }) => tensor)
}

/** The alignment that the tensors of a file were written with. */
export function alignmentOf(tensors: TensorList, { offset, size }: Section): number | undefined {
  const placed = byName(tensors).flatMap(({ data, dtype }) =>
    data?.origin ? [{ offset: data.origin.offset, size: data.byteLength, isBlock: isBlockType(dtype) }] : [],
  )
  return findAlignment(placed, offset, offset + size)
}
