// Looks for the index of the tensors in a file whose directory no longer says where it is. Every writer puts its three tables one behind
// the other, so its header states three offsets that follow from two counts; hardly any weights do that.
import { type ByteSource, Cursor, defaultWindow, type Range, type StructValues } from '../../bytes/index.js'
import { strictReport } from '../../errors/index.js'
import { indexEntry, indexHeader } from './structs.js'

export interface FoundIndex {
  readonly offset: number
  /** Up to the cut. */
  readonly size: number
  /** How many bytes of names the file has; fewer than the header states when the cut goes through them. */
  readonly stringsSize: number
  /** The bytes that tensors with names lie in. */
  readonly data: Range
  /** The sizes of tensors whose names are cut off. */
  readonly nameless: readonly number[]
}

const maxRank = 64
/** How many entries are read at once. */
const group = 4096

/** Goes backwards from the end of the file, since writers put the index right before the directory. */
export async function findIndex(
  source: ByteSource,
  statedSize: number,
  signal: AbortSignal | undefined,
): Promise<FoundIndex | undefined> {
  const windows = Math.ceil(source.size / defaultWindow)
  for (let window = windows - 1; window >= 0; window--) {
    const start = window * defaultWindow
    const bytes = await source.read(start, Math.min(defaultWindow + indexHeader.size, source.size - start), { signal })
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const last = Math.min(defaultWindow - 8, bytes.byteLength - indexHeader.size)
    for (let at = last - (last % 8); at >= 0; at -= 8) {
      // The version, and where the entries begin: behind the header.
      if (view.getUint32(at, true) !== 1 || view.getUint32(at + 16, true) !== indexHeader.size) continue
      const cursor = new Cursor(bytes.subarray(at, at + indexHeader.size), strictReport(source.name))
      const found = await confirm(source, start + at, indexHeader.read(cursor), statedSize, signal)
      if (found) return found
    }
  }
  return undefined
}

async function confirm(
  source: ByteSource,
  offset: number,
  head: StructValues<typeof indexHeader>,
  statedSize: number,
  signal: AbortSignal | undefined,
): Promise<FoundIndex | undefined> {
  const { tensorCount, dimsCount, entriesOff, dimsOff, stringsOff, stringsSize } = head
  const entriesEnd = indexHeader.size + tensorCount * indexEntry.size
  const dimsEnd = entriesEnd + dimsCount * 8
  const isAsWritten =
    tensorCount > 0 &&
    entriesOff === BigInt(indexHeader.size) &&
    dimsOff === BigInt(entriesEnd) &&
    stringsOff === BigInt(dimsEnd)
  if (!isAsWritten || offset + dimsEnd >= source.size || stringsSize > BigInt(statedSize)) return undefined
  const strings = Math.min(Number(stringsSize), source.size - offset - dimsEnd)
  const nameless: number[] = []
  let start = Number.POSITIVE_INFINITY
  let end = 0
  for (let first = 0; first < tensorCount; first += group) {
    const count = Math.min(group, tensorCount - first)
    const at = offset + indexHeader.size + first * indexEntry.size
    const bytes = await source.read(at, count * indexEntry.size, { signal })
    const cursor = new Cursor(bytes, strictReport(source.name))
    for (let i = 0; i < count; i++) {
      const { nameOff, nameLen, dtype, rank, dimOff, dataOff, dataSize } = indexEntry.read(cursor)
      const isSound =
        nameOff + nameLen <= Number(stringsSize) &&
        dtype <= 0xffff &&
        rank <= maxRank &&
        dimOff + rank <= dimsCount &&
        Number(dataOff) + Number(dataSize) <= statedSize
      if (!isSound) return undefined
      if (nameOff + nameLen > strings) nameless.push(Number(dataSize))
      start = Math.min(start, Number(dataOff))
      end = Math.max(end, Number(dataOff) + Number(dataSize))
    }
  }
  return { offset, size: dimsEnd + strings, stringsSize: strings, data: { start, end }, nameless }
}
