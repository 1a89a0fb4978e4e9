// Writing, with the reference's layout: header, the other sections, TensorData, TensorIndex, QuantInfo, and the directory last, so that
// everything can go out in one pass. Sections begin on multiples of eight, with zeros between them.
import { alignUp } from '../../../bytes/index.js'
import { callerWord, failWith, usageCodes, writeCodes } from '../../../errors/index.js'
import {
  dataSlot,
  type Layout,
  type Model,
  type Payload,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../../model/index.js'
import { encodeDirectory } from '../container.js'
import { needsAlignment } from '../dtypes.js'
import { type Notes, notesOf } from '../notes.js'
import { encodeQuantInfo } from '../quant/quant-info.js'
import { hexType, type Section, sectionName, sectionTypes } from '../sections.js'
import { flagAligned64, header, magic } from '../structs.js'
import { encodeTensorIndex } from '../tensor-index/encode-index.js'
import { collectSections } from './encode-sections.js'
import { blockAlignment, byName, isAlignment, maxAlignment, ownersOf, type Places, placeTensors } from './place.js'

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const notes = notesOf(model.parts)
  const likeReference = options.likeReference ?? false
  const writer = new Writer()
  const versionOf = (type: number): number => notes?.versions.get(type) ?? 1
  const others = await collectSections(model, notes, options)
  for (const { type, version, data, isSecond } of others) {
    writer.section(type, version ?? versionOf(type), isSecond)
    for (const piece of Array.isArray(data) ? data : [data]) writer.put(sectionName(type), piece)
  }
  const tensors = byName(model.tensors)
  let allAligned = true
  if (tensors.length > 0) {
    const align = checkedAlignment(options.align ?? (likeReference ? undefined : notes?.alignment()) ?? blockAlignment)
    // The reference's quantize command gives each tensor bytes of its own.
    const owners = likeReference ? tensors.map((_, i) => i) : ownersOf(tensors, model.tensors)
    writer.section(sectionTypes.tensorData, versionOf(sectionTypes.tensorData))
    const places = placeTensors(tensors, owners, align, writer.end)
    writer.putMany(
      slotsMadeBy(() => tensorSlots(tensors, owners, places)),
      places.end - places.start,
    )
    allAligned = places.offsets.every((offset) => offset % blockAlignment === 0)
    writer.section(sectionTypes.tensorIndex, versionOf(sectionTypes.tensorIndex))
    writer.put(sectionName(sectionTypes.tensorIndex), encodeTensorIndex(tensors, places.offsets))
    // An empty one is written where the file had one, where the reference writes one, and where another must not take its place.
    const hasSecond = others.some(({ type }) => type === sectionTypes.quantInfo)
    const quantInfo = encodeQuantInfo(tensors, likeReference || hasSecond || (notes?.hasQuantInfo ?? false))
    if (quantInfo) {
      writer.section(sectionTypes.quantInfo, versionOf(sectionTypes.quantInfo))
      writer.put(sectionName(sectionTypes.quantInfo), quantInfo)
    }
  }
  const flags = flagsFor(tensors, notes, allAligned, likeReference)
  const minor = likeReference ? 1 : (notes?.minor ?? 1)
  return { files: [{ name: options.name, slots: finish(writer, minor, flags, options.name) }] }
}

/** A section on its way into the file; it ends where the next one, or the directory, begins to be padded. */
interface WrittenSection extends Omit<Section, 'size'> {
  size: number
  readonly isSecond: boolean
}

/** Sections that are written one after another. */
class Writer {
  /** In the order of the file. The many slots of tensors are made on the way. */
  readonly slots: Iterable<Slot>[] = []
  readonly sections: WrittenSection[] = []
  end = header.size

  pad(to: number): void {
    if (to > this.end) this.slots.push([{ kind: 'zeros', path: 'padding', length: to - this.end }])
    this.end = to
  }

  /** Begins a section on a multiple of eight. */
  section(type: number, version: number, isSecond = false): void {
    this.close()
    this.sections.push({ type, version, offset: this.end, size: 0, index: this.sections.length, isSecond })
  }

  put(path: string, data: Payload | Uint8Array): void {
    if (data.byteLength === 0) return
    const isBytes = data instanceof Uint8Array
    this.slots.push([isBytes ? { kind: 'bytes', path, bytes: data } : { kind: 'payload', path, payload: data }])
    this.end += data.byteLength
  }

  putMany(slots: Iterable<Slot>, length: number): void {
    this.slots.push(slots)
    this.end += length
  }

  /** Ends the last section. */
  close(): void {
    const last = this.sections.at(-1)
    if (last) last.size = this.end - last.offset
    this.pad(alignUp(this.end, 8))
  }
}

function checkedAlignment(align: number): number {
  if (isAlignment(align)) return Math.max(align, 1)
  const message = `${align} is neither 0 nor a power of two up to ${maxAlignment}`
  return failWith(usageCodes.option, { file: callerWord('--align', 'align'), message })
}

function* tensorSlots(
  tensors: readonly Tensor[],
  owners: readonly number[],
  { start, offsets, end }: Places,
): Generator<Slot, void, void> {
  const path = 'tensor_data.padding'
  let reached = start
  for (const [i, { name, data }] of tensors.entries()) {
    if (owners[i] !== i) continue
    const offset = offsets[i]!
    if (offset > reached) yield { kind: 'zeros', path, length: offset - reached }
    if (data!.byteLength > 0) yield dataSlot(name, data!)
    reached = offset + data!.byteLength
  }
  if (end > reached) yield { kind: 'zeros', path, length: end - reached }
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

/** Directory entries ascend by type, whatever the order in the file; of one type, the one that counts comes first. */
function finish(writer: Writer, minor: number, flags: bigint, file: string): Iterable<Slot> {
  writer.close()
  refuseAscent(writer.sections, file)
  const sections = writer.sections.toSorted(
    (a, b) => a.type - b.type || Number(a.isSecond) - Number(b.isSecond) || a.index - b.index,
  )
  const sectionDirOffset = BigInt(writer.end)
  writer.put('sections', encodeDirectory(sections))
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

/** A section that readers skipped must not become the one that they look at. */
function refuseAscent(sections: readonly WrittenSection[], file: string): void {
  const firsts = new Set(sections.filter(({ isSecond }) => !isSecond).map(({ type }) => type))
  const risen = sections.find(({ type, isSecond }) => isSecond && !firsts.has(type))
  if (!risen) return
  const what = `the second section ${sectionName(risen.type)}, which readers do not look at`
  const message = `${what}, would become the only one; leave it out with ${callerWord(`--without ${hexType(risen.type)}`, `without: ['${hexType(risen.type)}']`)}`
  failWith(writeCodes['not-writable'], { file, path: sectionName(risen.type), message })
}
