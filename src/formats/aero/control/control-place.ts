// Where the table of contents and the string table are, by the header, and whether they can be there.
import type { ByteSource } from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import { type Header, header, maxEntries, maxStringTable, tocHeader, tocSize } from '../structs.js'

interface TocPlace {
  readonly tocOffset: number
  readonly tocLength: number
}

interface StringsPlace {
  readonly stringsOffset: number
  readonly stringsLength: number
}

type Place = TocPlace & StringsPlace

function failPlace(code: Code, field: keyof Header & string, message: string, { report }: ReadContext): never {
  return report.fail(code, { offset: header.offsetOf(field), length: 8, path: `header.${snake(field)}`, message })
}

const beyond = (offset: bigint, length: bigint, size: number): string =>
  `bytes ${offset} to ${offset + length}, but the file has ${size}`

export function checkTocPlace({ tocOffset, tocLength }: Header, { size }: ByteSource, context: ReadContext): TocPlace {
  if (tocOffset + tocLength > BigInt(size)) {
    failPlace(codes['toc-bounds'], 'tocOffset', beyond(tocOffset, tocLength, size), context)
  }
  if (tocLength < BigInt(tocHeader.size)) {
    const message = `${tocLength} bytes, its header alone takes ${tocHeader.size}`
    failPlace(codes['toc-length'], 'tocLength', message, context)
  }
  return { tocOffset: Number(tocOffset), tocLength: Number(tocLength) }
}

export async function readEntryCount(
  source: ByteSource,
  { tocOffset, tocLength }: TocPlace,
  start: Uint8Array,
  { report, signal }: ReadContext,
): Promise<number> {
  const known = start.subarray(tocOffset, tocOffset + 4)
  const bytes = known.byteLength === 4 ? known : await source.read(tocOffset, 4, { signal })
  const entryCount = new DataView(bytes.slice().buffer).getUint32(0, true)
  const at = { offset: tocOffset, length: 4, path: 'toc.entry_count' }
  if (entryCount > maxEntries) {
    report.fail(codes['toc-count-cap'], { ...at, message: `${entryCount} entries, ${maxEntries} are the most` })
  }
  const needed = tocSize(entryCount)
  if (needed > tocLength) {
    const message = `${entryCount} entries take ${needed} bytes, the table has ${tocLength}`
    report.fail(codes['toc-count-vs-length'], { ...at, message })
  }
  return entryCount
}

export function checkStringsPlace(values: Header, { size }: ByteSource, context: ReadContext): StringsPlace {
  const { stringTableOffset, stringTableLength } = values
  if (stringTableOffset + stringTableLength > BigInt(size)) {
    const message = beyond(stringTableOffset, stringTableLength, size)
    failPlace(codes['strtab-bounds'], 'stringTableOffset', message, context)
  }
  if (stringTableLength > BigInt(maxStringTable)) {
    const message = `${stringTableLength} bytes, ${maxStringTable} are the most`
    failPlace(codes['strtab-cap'], 'stringTableLength', message, context)
  }
  return { stringsOffset: Number(stringTableOffset), stringsLength: Number(stringTableLength) }
}

/** Table and names usually lie side by side; then one read brings both. */
const fetchTogether = 1 << 20

export async function fetchTables(source: ByteSource, place: Place, entryCount: number, { signal }: ReadContext) {
  const { tocOffset, stringsOffset, stringsLength } = place
  const needed = tocSize(entryCount)
  const start = Math.min(tocOffset, stringsOffset)
  const end = Math.max(tocOffset + needed, stringsOffset + stringsLength)
  const together = end - start <= fetchTogether ? await source.read(start, end - start, { signal }) : undefined
  const read = async (offset: number, length: number): Promise<Uint8Array> =>
    together ? together.subarray(offset - start, offset - start + length) : source.read(offset, length, { signal })
  return { toc: await read(tocOffset, needed), strings: await read(stringsOffset, stringsLength) }
}

/** The name of a field in the words of the document. */
export const snake = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
