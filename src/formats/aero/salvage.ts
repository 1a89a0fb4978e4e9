// Reading a file that was cut. Weights behind the cut are gone, and the reader says which. But where the index lies behind the weights,
// the cut may go through the index: then the entries before the cut are as good as ever, and the file is read as if they were all.
import { alignUp, type ByteSource, Cursor, joinBytes, Shortage } from '../../bytes/index.js'
import { digestOf } from '../../digest/index.js'
import { collectingReport, strictReport, TareError } from '../../errors/index.js'
import type { Model, ReadContext } from '../../model/index.js'
import { MsgpackReader, MsgpackWriter } from '../../wire/msgpack/index.js'
import { patchedSource } from '../../writing/patched-source.js'
import { type Chunk, isCompressed, sameBytes } from './chunk.js'
import { type Control, readControl } from './control.js'
import { skipValue } from './edit-index.js'
import { chunkKind } from './file.js'
import { readFile } from './read.js'
import { chunkAlignment, fourccText, type TocEntry, tocEntry, tocHeader } from './structs.js'

export async function readCut(source: ByteSource, context: ReadContext): Promise<Model> {
  const listed = await findIndex(source, context)
  if (!listed) return withoutRemains(await readFile(source, context), context)
  const entry = listed.entries[listed.position]!
  const offset = Number(entry.chunkOffset)
  const available = source.size - offset
  const isReadable =
    available > 0 && available <= context.limits.indexBytes && !isCompressed({ flags: entry.chunkFlags })
  const bytes = isReadable ? await source.read(offset, available, context) : undefined
  const kept = bytes && wholeEntries(bytes, Number(entry.chunkLength))
  if (!kept) {
    const reason = `the index lay behind byte ${source.size}, where the file was cut: names, types and places of all tensors are gone`
    context.onLost?.({ subject: 'tensor', reason })
    return withoutRemains(await readFile(source, context), context)
  }
  const missing = kept.stated - kept.count
  if (missing > 0) {
    const which = missing === 1 ? 'a tensor' : `${missing} tensors`
    context.onLost?.({ subject: 'tensor', reason: `${which} whose entries in the index are cut off` })
  }
  return withoutRemains(await readFile(await withIndex(source, listed, kept.index), context), context)
}

/**
 * What is left of a shard that no whole tensor lies in is of no use, and does not have its hash. Nor is an empty chunk that should hold
 * something: no byte of it is there that could be found damaged.
 */
async function withoutRemains(model: Model, { onLost }: ReadContext): Promise<Model> {
  const ofNothing = await digestOf('blake3', new Uint8Array(0))
  const parts = model.parts.filter(({ kind, name, content }) => {
    if (kind !== chunkKind) return true
    const { fourcc, length, ulen, flags, hash } = content as Chunk
    if (fourcc === 'WTSH' && length !== ulen) return false
    if (length > 0 || (!isCompressed({ flags }) && sameBytes(hash, ofNothing))) return true
    onLost?.({ subject: 'part', name, length, reason: 'it is empty, and by its hash it was not' })
    return false
  })
  return { ...model, parts }
}

interface Listed {
  readonly tocOffset: number
  readonly entries: readonly TocEntry[]
  /** The position of the index in the list. */
  readonly position: number
}

const isBeyond = ({ chunkOffset, chunkLength }: TocEntry, { size }: ByteSource): boolean =>
  chunkOffset + chunkLength > BigInt(size)

/** The table of contents, if it lists an index that is not all in the file. */
async function findIndex(source: ByteSource, context: ReadContext): Promise<Listed | undefined> {
  let control: Control
  try {
    const quiet = collectingReport(source.name, [])
    control = await readControl(source, { ...context, report: quiet, extents: undefined, onLost: undefined })
  } catch (error) {
    if (error instanceof TareError && !context.signal?.aborted) return undefined
    throw error
  }
  const { tocOffset, entryCount } = control
  const at = tocOffset + tocHeader.size
  const cursor = new Cursor((await source.read(at, entryCount * tocEntry.size, context)).slice(), strictReport(''))
  const entries = Array.from({ length: entryCount }, () => tocEntry.read(cursor))
  const position = entries.findIndex(({ fourcc }) => fourccText(fourcc) === 'TIDX')
  const index = entries[position]
  return index && isBeyond(index, source) ? { tocOffset, entries, position } : undefined
}

/** The index with the entries that are whole; undefined when there are none. */
function wholeEntries(
  bytes: Uint8Array,
  length: number,
): { index: Uint8Array; count: number; stated: number } | undefined {
  const reader = new MsgpackReader(bytes, strictReport('TIDX'), { end: length })
  let stated = 0
  let count = 0
  let [start, end] = [0, 0]
  try {
    const isMap = reader.next() === 'map'
    const isUsual =
      isMap && reader.next() === 'str' && new TextDecoder().decode(reader.take(reader.length)) === 'tensors'
    if (!isUsual || reader.next() !== 'array') return undefined
    stated = reader.length
    start = reader.position
    for (; count < stated; count++) {
      end = reader.position
      skipValue(reader)
    }
    end = reader.position
  } catch (error) {
    if (!(error instanceof Shortage) && !(error instanceof TareError)) throw error
  }
  if (count === 0) return undefined
  const writer = new MsgpackWriter()
  writer.mapHeader(1)
  writer.str('tensors')
  writer.arrayHeader(count)
  writer.raw(bytes.subarray(start, end))
  return { index: writer.finish(), count, stated }
}

/** Where no file ends. What lies behind the cut must not be taken for what is made up there. */
const nowhere = 2n ** 62n

async function withIndex(source: ByteSource, listed: Listed, index: Uint8Array): Promise<ByteSource> {
  const { tocOffset, entries, position } = listed
  const offset = alignUp(source.size, chunkAlignment)
  const length = BigInt(index.byteLength)
  const place = { chunkOffset: BigInt(offset), chunkLength: length, chunkUlen: length }
  const own = { ...entries[position]!, ...place, blake3: await digestOf('blake3', index) }
  const now = entries.map((entry, i) => {
    if (i === position) return tocEntry.write(own)
    return tocEntry.write(isBeyond(entry, source) ? { ...entry, chunkOffset: nowhere } : entry)
  })
  const start = tocOffset + tocHeader.size
  const end = start + entries.length * tocEntry.size
  return patchedSource(source, [
    { offset: 0, length: start },
    joinBytes(now),
    { offset: end, length: source.size - end },
    new Uint8Array(offset - source.size),
    index,
  ])
}
