// The tensors: TensorIndex, TensorData and QuantInfo together. A file without any of them is a container of other sections, which is fine.
import type { ByteSource } from '../../../bytes/index.js'
import type { QuantInfo } from '../../../dtypes/mcf/types.js'
import type { ReadContext, Tensor } from '../../../model/index.js'
import { PackedTensors } from '../../../model/packed-tensors.js'
import { RangePayload } from '../../../model/range-payload.js'
import { byName as orderedByName } from '../../../model/tensor-order.js'
import { codes } from '../codes.js'
import type { Container } from '../container.js'
import { type FoundRecord, readQuantInfo } from '../quant/quant-info.js'
import { type Section, sectionTypes } from '../sections.js'
import { flagAligned64, header, quantRecord } from '../structs.js'
import { blockAlignment, findAlignment, PlacedTensors } from '../write/place.js'
import { type IndexVisitor, readTensorIndex } from './entries.js'
import type { Entry } from './entry.js'
import type { IndexNames } from './index-names.js'
import { checkTensorOverlap } from './overlap.js'
import { isBlockType, toTensor } from './to-tensor.js'
import type { UsualEntry } from './usual-entries.js'

export async function readStore(
  source: ByteSource,
  container: Container,
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
  const listing = new Listing(source, data, quant !== undefined, context)
  const names = await readTensorIndex(source, index, context, listing)
  const { tensors, count } = listing
  if (!data) {
    const message = `${count} tensors are listed, but there is no section with their data`
    return context.report.fail(codes['store-missing-tensor-data'], { offset, path: 'sections', message })
  }
  checkFlag(container, listing.firstBlock, context)
  recordPadding(source, data, tensors, context)
  // Nobody who only opens the file comes to harm by it.
  if (!context.report.strict) checkTensorOverlap(tensors, context)
  if (!quant) return tensors
  linkRecords(await readQuantInfo(source, quant, context), listing, names, context)
  return tensors
}

/** The tensors of an index; entry i of the lists of numbers belongs to entry i there, and they are empty where no QuantInfo wants them. */
class Listing implements IndexVisitor {
  readonly tensors = new PackedTensors()
  readonly data: Section | undefined
  count = 0
  firstBlock: Tensor | undefined
  /** Among the tensors; -1 for entries that became none. */
  positions = new Int32Array(0)
  /** Codes of element types; -1 for entries that could not be read. */
  dtypes = new Int32Array(0)
  readonly #source: ByteSource
  readonly #isQuantized: boolean
  readonly #context: ReadContext

  constructor(source: ByteSource, data: Section | undefined, isQuantized: boolean, context: ReadContext) {
    this.#source = source
    this.data = data
    this.#isQuantized = isQuantized
    this.#context = context
  }

  begin(count: number): void {
    this.count = count
    if (!this.#isQuantized) return
    this.positions = new Int32Array(count).fill(-1)
    this.dtypes = new Int32Array(count).fill(-1)
  }

  visit(entry: Entry): void {
    const tensor = this.data && toTensor(entry, this.#source, this.data, this.#context)
    this.dtypes[entry.index] = entry.fields.dtype
    if (!tensor) return
    if (!this.firstBlock && isBlockType(tensor.dtype)) this.firstBlock = tensor
    this.#add(entry.index, tensor)
  }

  visitUsual({ index, dtypeCode, name, dtype, shape, offset, length }: UsualEntry): void {
    this.dtypes[index] = dtypeCode
    const data = new RangePayload(this.#source, offset, length)
    const tensor: Tensor = { name, dtype, shape, order: 'row', role: 'weight', data }
    if (dtype.regions) this.firstBlock ??= tensor
    this.#add(index, tensor)
  }

  #add(index: number, tensor: Tensor): void {
    this.positions[index] = this.tensors.length
    this.tensors.push(tensor)
  }
}

function checkFlag(container: Container, block: Tensor | undefined, { report }: ReadContext): void {
  if (!block || container.header.flags % 2n === flagAligned64) return
  const message = `${JSON.stringify(block.name)} is ${block.dtype.id}, but flag 0 is not set`
  const place = { offset: header.offsetOf('flags'), length: 8, path: 'header.flags' }
  report.report(codes['quant-needs-flag'], { ...place, message })
}

/** Gives each tensor the first record about it. */
function linkRecords(
  records: Iterable<FoundRecord>,
  { count, dtypes, positions, tensors }: Listing,
  names: IndexNames,
  { report }: ReadContext,
): void {
  const areLinked = new Uint8Array(count)
  for (const record of records) {
    const { tensorIndex, method, at } = record
    const path = `quant_info.records[${record.index}]`
    const dtype = dtypes[tensorIndex] ?? -1
    if (tensorIndex >= count) {
      const message = `it is about tensor ${tensorIndex}, but there are ${count}`
      const place = { offset: at, length: 4, path: `${path}.tensor_index` }
      report.report(codes['record-index-out-of-range'], { ...place, message })
    } else if (dtype >= 0 && dtype !== method) {
      const types = `0x${method.toString(16)}, the tensor's type is 0x${dtype.toString(16)}`
      const message = `${JSON.stringify(names.nameOf(tensorIndex))}: the method is ${types}`
      const place = { offset: at + quantRecord.offsetOf('method'), length: 1, path: `${path}.method` }
      report.report(codes['record-method-mismatch'], { ...place, message })
    } else if (areLinked[tensorIndex] === 1) {
      const message = `tensor ${tensorIndex} has a record already`
      report.report(codes['quantinfo-duplicate-record'], { offset: at, length: quantRecord.size, path, message })
    } else {
      areLinked[tensorIndex] = 1
      const position = positions[tensorIndex]!
      if (position >= 0) tensors.replace(position, withRecord(tensors.at(position)!, record))
    }
  }
}

/** All fields at once: engines take many times as long for objects that are made by spreading others. */
function withRecord({ name, rawName, dtype, shape, order, role, data }: Tensor, record: FoundRecord): Tensor {
  return { name, rawName, dtype, shape, order, role, data, extra: { quantInfo: toQuantInfo(record) } }
}

const toQuantInfo = ({ domain, minClip, maxClip }: FoundRecord): QuantInfo => ({
  domain: domain === 1 ? 'activations' : 'weights',
  minClip: Number.isFinite(minClip) ? minClip : String(minClip),
  maxClip: Number.isFinite(maxClip) ? maxClip : String(maxClip),
})

/** Short gaps between tensors are padding; longer ones stay gaps in the byte map. */
function recordPadding(source: ByteSource, data: Section, tensors: readonly Tensor[], { extents }: ReadContext): void {
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
export const byName = (tensors: readonly Tensor[]): readonly Tensor[] =>
  orderedByName(tensors, ({ name, rawName }) => rawName?.[0] ?? name)

/** The alignment that the tensors of a file were written with. */
export function alignmentOf(tensors: readonly Tensor[], { offset, size }: Section): number | undefined {
  const placed = new PlacedTensors(tensors.length)
  for (const { data, dtype } of byName(tensors))
    if (data?.origin) placed.add(data.origin.offset, data.byteLength, isBlockType(dtype))
  return findAlignment(placed, offset, offset + size)
}
