// Writing, with the reference's layout: header, the other sections, TensorData, TensorIndex, QuantInfo, and the directory last, so that
// everything can go out in one pass. Sections begin on multiples of eight, with zeros between them.
import { alignUp } from '../../../bytes/index.js'
import { failWith, usageCodes, writeCodes } from '../../../errors/index.js'
import {
  type Layout,
  type Model,
  type Payload,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../../model/index.js'
import { type Notes, notesOf } from '../notes.js'
import { encodeQuantInfo } from '../quant/encode-quant-info.js'
import { hexType, type Section, sectionName, sectionTypes } from '../sections.js'
import { flagAligned64, header, magic, sectionRecord } from '../structs.js'
import { TensorIndex } from '../tensor-index/encode-index.js'
import { byName } from '../tensor-index/read-tensors.js'
import { needsAlignment } from '../tensor-index/to-tensor.js'
import { groupShared } from './dedup.js'
import { collectSections } from './encode-sections.js'
import { blockAlignment, type Item, isAlignment, maxAlignment, placeTensors } from './place.js'

interface WrittenSection extends Section {
  readonly isSecond: boolean
}

/** Sections that are being written one after another. */
class Writer {
  readonly slots: Iterable<Slot>[] = []
  readonly sections: WrittenSection[] = []
  #end = header.size

  get end(): number {
    return this.#end
  }

  pad(to: number, path = 'padding'): void {
    if (to > this.#end) this.slots.push([{ kind: 'zeros', path, length: to - this.#end }])
    this.#end = to
  }

  put(slot: Slot, length: number): void {
    if (length > 0) this.slots.push([slot])
    this.#end += length
  }

  /** Many slots that are made on the way. */
  fill(slots: Iterable<Slot>, length: number): void {
    this.slots.push(slots)
    this.#end += length
  }

  piece(path: string, data: Payload | Uint8Array): void {
    if (data instanceof Uint8Array) this.put({ kind: 'bytes', path, bytes: data }, data.byteLength)
    else this.put({ kind: 'payload', path, payload: data }, data.byteLength)
  }

  /** Begins on a multiple of eight and ends where `write` stops. */
  section(type: number, version: number, write: () => void, isSecond = false): void {
    this.pad(alignUp(this.#end, 8))
    const offset = this.#end
    write()
    this.sections.push({ type, version, offset, size: this.#end - offset, index: this.sections.length, isSecond })
  }

  bytes(type: number, version: number, bytes: Uint8Array): void {
    const slot: Slot = { kind: 'bytes', path: sectionName(type), bytes }
    this.section(type, version, () => this.put(slot, bytes.byteLength))
  }
}

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const notes = notesOf(model.parts)
  const likeReference = options.likeReference ?? false
  const writer = new Writer()
  const versionOf = (type: number): number => notes?.versions.get(type) ?? 1
  const others = await collectSections(model, notes, options)
  for (const { type, version, data, isSecond } of others) {
    const write = (): void => {
      for (const piece of Array.isArray(data) ? data : [data]) writer.piece(sectionName(type), piece)
    }
    writer.section(type, version ?? versionOf(type), write, isSecond)
  }
  const tensors = byName(model.tensors)
  let allAligned = true
  if (tensors.length > 0) {
    const align = options.align ?? (likeReference ? undefined : notes?.alignment()) ?? blockAlignment
    const owners = likeReference ? eachItsOwn(tensors) : groupShared(tensors, model.tensors)
    const offsets = writeTensorData(writer, tensors, owners, align, versionOf(sectionTypes.tensorData))
    allAligned = offsets.every((offset) => offset % blockAlignment === 0)
    const index = new TensorIndex(tensors, offsets)
    const slots = slotsMadeBy(() => index.slots())
    writer.section(sectionTypes.tensorIndex, versionOf(sectionTypes.tensorIndex), () =>
      writer.fill(slots, index.length),
    )
    // An empty one is written where the file had one, where the reference writes one, and where another must not take its place.
    const hasSecond = others.some(({ type }) => type === sectionTypes.quantInfo)
    const quantInfo = encodeQuantInfo(tensors, likeReference || hasSecond || (notes?.hasQuantInfo ?? false))
    if (quantInfo) writer.bytes(sectionTypes.quantInfo, versionOf(sectionTypes.quantInfo), quantInfo)
  }
  refuseAscent(writer.sections, options.name)
  const flags = flagsFor(tensors, notes, allAligned, likeReference)
  const minor = likeReference ? 1 : (notes?.minor ?? 1)
  return { files: [{ name: options.name, slots: finish(writer, minor, flags) }] }
}

/** Flag 0 must be set for block types. Otherwise it says that all tensors are aligned; a file that left it clear keeps it so. */
function flagsFor(
  tensors: readonly Tensor[],
  notes: Notes | undefined,
  allAligned: boolean,
  likeReference: boolean,
): bigint {
  if (likeReference) return flagAligned64
  const isAligned = allAligned && (notes === undefined || notes.flags % 2n === flagAligned64)
  const hasBlocks = tensors.some(({ dtype }) => needsAlignment(dtype))
  const unknown = notes ? notes.flags - (notes.flags % 2n) : 0n
  return unknown + (isAligned || hasBlocks ? flagAligned64 : 0n)
}

/** The reference's quantize command gives each tensor bytes of its own. */
const eachItsOwn = (tensors: readonly Tensor[]): Uint32Array =>
  Uint32Array.from({ length: tensors.length }, (_, i) => i)

/** A section that no reader looked at must not become the one that they do look at. */
function refuseAscent(sections: readonly WrittenSection[], file: string): void {
  const firsts = new Set(sections.filter(({ isSecond }) => !isSecond).map(({ type }) => type))
  const risen = sections.find(({ type, isSecond }) => isSecond && !firsts.has(type))
  if (!risen) return
  const what = `the second section ${sectionName(risen.type)}, which readers do not look at`
  const message = `${what}, would become the only one; leave it out with --without ${hexType(risen.type)}`
  failWith(writeCodes['not-writable'], { file, path: sectionName(risen.type), message })
}

function writeTensorData(
  writer: Writer,
  tensors: readonly Tensor[],
  owners: Uint32Array,
  align: number,
  version: number,
): Float64Array {
  if (!isAlignment(align)) {
    const message = `${align} is neither 0 nor a power of two up to ${maxAlignment}`
    failWith(usageCodes.option, { file: '--align', message })
  }
  const alignment = Math.max(align, 1)
  const sizes = new Float64Array(tensors.length)
  const needed = new Float64Array(tensors.length)
  for (const [i, { dtype, data }] of tensors.entries()) {
    sizes[i] = data!.byteLength
    needed[i] = needsAlignment(dtype) ? Math.max(alignment, blockAlignment) : alignment
  }
  for (const [i, owner] of owners.entries()) needed[owner] = Math.max(needed[owner]!, needed[i]!)
  const itemAt = (i: number): Item => ({ size: sizes[i]!, alignment: needed[i]!, bytesOf: owners[i]! })
  const start = alignUp(writer.end, 8)
  const { offsets, end } = placeTensors(tensors.length, itemAt, start)
  const slots = slotsMadeBy(function* () {
    let reached = start
    const path = 'tensor_data.padding'
    for (const [i, { name, data }] of tensors.entries()) {
      if (owners[i] !== i) continue
      const offset = offsets[i]!
      if (offset > reached) yield { kind: 'zeros', path, length: offset - reached }
      if (data!.byteLength > 0) yield { kind: 'payload', path: `data[${JSON.stringify(name)}]`, payload: data! }
      reached = offset + data!.byteLength
    }
    if (end > reached) yield { kind: 'zeros', path, length: end - reached }
  })
  writer.section(sectionTypes.tensorData, version, () => writer.fill(slots, end - start))
  return offsets
}

/** Directory entries ascend by type, whatever the order in the file; of one type, the one that counts comes first. */
function finish(writer: Writer, minor: number, flags: bigint): Iterable<Slot> {
  const sections = writer.sections.toSorted(
    (a, b) => a.type - b.type || Number(a.isSecond) - Number(b.isSecond) || a.index - b.index,
  )
  writer.pad(alignUp(writer.end, 8))
  const sectionDirOffset = BigInt(writer.end)
  const directory = new Uint8Array(sections.length * sectionRecord.size)
  const view = new DataView(directory.buffer)
  for (const [i, { type, version, offset, size }] of sections.entries()) {
    const record = { type, version, offset: BigInt(offset), size: BigInt(size) }
    sectionRecord.writeInto(view, i * sectionRecord.size, record)
  }
  writer.put({ kind: 'bytes', path: 'sections', bytes: directory }, directory.byteLength)
  const head = header.write({
    magic,
    major: 1,
    minor,
    headerSize: header.size,
    sectionCount: sections.length,
    sectionDirOffset,
    fileSize: BigInt(writer.end),
    flags,
  })
  return slotsMadeBy(function* () {
    yield { kind: 'bytes', path: 'header', bytes: head }
    for (const slots of writer.slots) yield* slots
  })
}
