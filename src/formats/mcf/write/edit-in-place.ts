// Everything in a file is found through the directory, and the directory through the header. So TensorData can stay where it is while
// ModelInfo and the index go wherever there is room, and the directory behind them.
import { alignUp, areApart, type ByteSource, type StructValues } from '../../../bytes/index.js'
import { collectingReport } from '../../../errors/index.js'
import { defaultLimits, type FileLayout, type Model, rangePayload, type WriteOptions } from '../../../model/index.js'
import { EditSpace } from '../../../writing/edit-space.js'
import { type Container, encodeDirectory, readContainer } from '../container.js'
import { notesOf } from '../notes.js'
import { encodeQuantInfo } from '../quant/quant-info.js'
import { rangeOf, type Section, sectionName, sectionTypes } from '../sections.js'
import { header, sectionRecord } from '../structs.js'
import { encodeTensorIndex } from '../tensor-index/encode-index.js'
import { collectSections } from './encode-sections.js'
import { byName } from './place.js'

/** A section on its way into the edited file. Without bytes it is the old one, where it is. */
interface Entry {
  readonly type: number
  readonly version: number
  readonly old?: Section | undefined
  bytes?: Uint8Array | undefined
}

const alignment = 8
/** Behind the weights, sections up to this size move together, so that no gaps stay between them. */
const smallSection = 1 << 20

export async function editInPlace(model: Model, edited: Model, options: WriteOptions): Promise<FileLayout | undefined> {
  const [source] = model.files
  if (!source || model.files.length > 1 || !areInPlace(model, edited, source)) return undefined
  const { name, signal } = options
  const report = collectingReport(source.name, [])
  const container = await readContainer(source, { report, signal, limits: defaultLimits, lenient: true })
  const regions = [rangeOf(container.directory), ...container.sections.map(rangeOf)]
  if (container.sections.length !== container.header.sectionCount || !areApart(regions)) return undefined
  const entries = await planEntries(model, edited, container, options)
  if (entries.every(({ bytes }) => !bytes))
    return { name, slots: [{ kind: 'payload', path: 'file', payload: rangePayload(source, 0, source.size) }] }
  await loosenTail(entries, source, signal)
  return place(entries, container, source, options)
}

/** The weights and everything that is kept as bytes are those of the file. */
function areInPlace(model: Model, edited: Model, source: ByteSource): boolean {
  const payloads = ({ parts }: Model) => parts.flatMap(({ data }) => data ?? [])
  const old = new Set(payloads(model))
  const kept = payloads(edited)
  return (
    edited.tensors.length === model.tensors.length &&
    edited.tensors.every(({ data }) => data?.origin?.source === source) &&
    kept.length === old.size &&
    kept.every((payload) => old.has(payload))
  )
}

/** All sections in the order of the directory; of each type the first is the one that counts. */
async function planEntries(
  model: Model,
  edited: Model,
  { sections }: Container,
  options: WriteOptions,
): Promise<Entry[]> {
  const entries: Entry[] = sections.map((old) => ({ type: old.type, version: old.version, old }))
  const put = (type: number, bytes: Uint8Array): void => {
    const entry = entries.find((each) => each.type === type)
    if (entry) entry.bytes = bytes
    else entries.push({ type, version: 1, bytes })
  }
  const others = await collectSections(edited, notesOf(edited.parts), options)
  // Sections that are carried along have a version of their own.
  const info = others.find(({ type, version }) => type === sectionTypes.modelInfo && version === undefined)
  if (info?.data instanceof Uint8Array) put(sectionTypes.modelInfo, info.data)
  if (!haveSameNames(model, edited)) {
    const tensors = byName(edited.tensors)
    const offsets = tensors.map(({ data }) => data!.origin!.offset)
    put(sectionTypes.tensorIndex, encodeTensorIndex(tensors, offsets))
    // Its records name tensors by their position in the index.
    const hasQuantInfo = sections.some(({ type }) => type === sectionTypes.quantInfo)
    const quantInfo = encodeQuantInfo(tensors, hasQuantInfo)
    if (quantInfo) put(sectionTypes.quantInfo, quantInfo)
  }
  return entries.sort((a, b) => a.type - b.type || positionOf(a) - positionOf(b))
}

const positionOf = ({ old }: Entry): number => old?.index ?? Number.POSITIVE_INFINITY

const haveSameNames = ({ tensors: old }: Model, { tensors }: Model): boolean =>
  tensors.every(({ name, data }, i) => name === old[i]!.name && data === old[i]!.data)

const isAnchor = ({ type, old, bytes }: Entry): boolean =>
  old !== undefined && !bytes && old.size > 0 && (type === sectionTypes.tensorData || old.size > smallSection)

async function loosenTail(entries: readonly Entry[], source: ByteSource, signal?: AbortSignal): Promise<void> {
  const end = entries.filter(isAnchor).reduce((reached, { old }) => Math.max(reached, old!.offset + old!.size), 0)
  for (const entry of entries) {
    const { old, bytes } = entry
    if (old && !bytes && old.offset >= end) entry.bytes = await source.read(old.offset, old.size, { signal })
  }
}

async function place(
  entries: readonly Entry[],
  { header: head, directory }: Container,
  source: ByteSource,
  { name, signal }: WriteOptions,
): Promise<FileLayout | undefined> {
  const loose = entries.filter(({ bytes }) => bytes).sort((a, b) => offsetOf(a) - offsetOf(b))
  const kept = entries.flatMap(({ old, bytes }) => (old && !bytes && old.size > 0 ? [rangeOf(old)] : []))
  const staying = [{ start: 0, end: head.headerSize }, ...kept]
  const freed = [rangeOf(directory), ...loose.flatMap(({ old }) => (old ? [rangeOf(old)] : []))]
  const space = await EditSpace.in(source, { staying, freed, alignment, signal })
  const size = entries.length * sectionRecord.size
  // The reference writes the directory last; one that lies before the weights stays there.
  const isInFront = directory.offset < space.stayingEnd && directory.offset % alignment === 0
  const early = isInFront ? space.place(size, rangeOf(directory)) : undefined
  const offsets = new Map<Entry, number>()
  for (const entry of loose) {
    const { length } = entry.bytes!
    if (length > 0) offsets.set(entry, space.place(length, entry.old && rangeOf(entry.old)))
  }
  const directoryOffset = early ?? space.append(size)
  if (space.isWasteful) return undefined
  const records = entries.map((entry) => {
    const { type, version, old, bytes } = entry
    const length = bytes?.length ?? old!.size
    // An empty section must not lie inside the directory, which may be where the section was.
    const offset = length === 0 ? alignUp(head.headerSize, alignment) : (offsets.get(entry) ?? old!.offset)
    return { type, version, offset, size: length }
  })
  const pieces = [
    ...[...offsets].map(([{ type, bytes }, offset]) => ({ path: sectionName(type), offset, bytes: bytes! })),
    { path: 'sections', offset: directoryOffset, bytes: encodeDirectory(records) },
  ]
  const start = { path: 'header', offset: 0, bytes: encodeHeader(head, entries.length, directoryOffset, space.end) }
  return { name, slots: space.slots([start, ...pieces]) }
}

/** New sections come behind the old ones. */
const offsetOf = ({ old }: Entry): number => old?.offset ?? Number.MAX_SAFE_INTEGER

function encodeHeader(
  head: StructValues<typeof header>,
  sectionCount: number,
  directoryOffset: number,
  fileSize: number,
): Uint8Array {
  const places = { sectionDirOffset: BigInt(directoryOffset), fileSize: BigInt(fileSize) }
  return header.write({ ...head, sectionCount, ...places })
}
