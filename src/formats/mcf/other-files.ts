// Six files of a published model have sections of their own. All others (a SentencePiece model, a chat template, special tokens, …) share
// one section of a type that no document knows, so readers step over it. Its directory comes first: a header, one entry per file, the
// names; the files follow in the same order, each on a multiple of eight, with zeros in between.
import {
  alignUp,
  type ByteSource,
  Cursor,
  decodeUtf8,
  encodeUtf8,
  isPlainFileName,
  struct,
  u32,
  u64,
} from '../../bytes/index.js'
import { filePart } from '../../content/companions.js'
import { strictReport, TareError } from '../../errors/index.js'
import { type Part, type Payload, type ReadContext, rangePayload } from '../../model/index.js'
import { otherFilesType, type Section, sectionName, typeOfFile } from './sections.js'

/** `indexSize` covers header, entries and names. */
const filesHeader = struct({ fileCount: u32, indexSize: u32 })
const fileEntry = struct({ nameLength: u32, reserved: u32, size: u64 })

/** A larger directory of files is not looked into. */
const maxIndex = 1 << 20
const alignment = 8

/** Whether a file goes into this section. */
export const isOtherFile = ({ kind, name, data }: Part): boolean =>
  kind === 'file' && data !== undefined && isPlainFileName(name ?? '') && typeOfFile(name!) === undefined

/** The section's bytes in order; files stay payloads. */
export function encodeOtherFiles(parts: readonly Part[]): (Payload | Uint8Array)[] {
  const names = parts.map(({ name }) => encodeUtf8(name!))
  const indexSize = filesHeader.size + names.reduce((sum, name) => sum + fileEntry.size + name.byteLength, 0)
  const index = new Uint8Array(alignUp(indexSize, alignment))
  const view = new DataView(index.buffer)
  filesHeader.writeInto(view, 0, { fileCount: parts.length, indexSize })
  let at = filesHeader.size + parts.length * fileEntry.size
  for (const [i, name] of names.entries()) {
    const size = BigInt(parts[i]!.data!.byteLength)
    fileEntry.writeInto(view, filesHeader.size + i * fileEntry.size, { nameLength: name.byteLength, reserved: 0, size })
    index.set(name, at)
    at += name.byteLength
  }
  const pieces: (Payload | Uint8Array)[] = [index]
  for (const [i, { data }] of parts.entries()) {
    const { byteLength } = data!
    pieces.push(data!)
    if (i < parts.length - 1) pieces.push(new Uint8Array(alignUp(byteLength, alignment) - byteLength))
  }
  return pieces
}

/** The files of the section, or undefined when it is not of this form: then it is kept as any unknown section. */
export async function readOtherFiles(
  source: ByteSource,
  section: Section,
  { extents, signal }: ReadContext,
): Promise<Part[] | undefined> {
  const bytes = await source.read(section.offset, Math.min(section.size, maxIndex), { signal })
  const files = parseIndex(bytes, section.size)
  if (!files) return undefined
  const place = { file: source.name, kind: 'field' as const }
  const path = sectionName(otherFilesType)
  const parts: Part[] = []
  let reached = 0
  for (const { name, offset, size } of files) {
    const kind = parts.length === 0 ? 'field' : 'padding'
    extents?.add({ ...place, offset: section.offset + reached, length: offset - reached, path, kind })
    extents?.add({ ...place, offset: section.offset + offset, length: size, path: `${path}[${JSON.stringify(name)}]` })
    parts.push(filePart(name, rangePayload(source, section.offset + offset, size)))
    reached = offset + size
  }
  return parts
}

function parseIndex(
  bytes: Uint8Array,
  sectionSize: number,
): { readonly name: string; readonly offset: number; readonly size: number }[] | undefined {
  const cursor = new Cursor(bytes, strictReport(''))
  try {
    const { fileCount, indexSize } = filesHeader.read(cursor)
    if (fileCount === 0 || indexSize > bytes.byteLength || fileCount * fileEntry.size > indexSize) return undefined
    const entries = Array.from({ length: fileCount }, () => fileEntry.read(cursor))
    const seen = new Set<string>()
    let end = indexSize
    const files = entries.map(({ nameLength, size }) => {
      const name = decodeUtf8(cursor.take(nameLength, 'name')) ?? ''
      const offset = alignUp(end, alignment)
      end = offset + Number(size)
      const isUsual = isPlainFileName(name) && typeOfFile(name) === undefined && !seen.has(name) && end <= sectionSize
      seen.add(name)
      return isUsual ? { name, offset, size: Number(size) } : undefined
    })
    const isWhole = cursor.position === indexSize && end === sectionSize
    return isWhole && files.every((file) => file !== undefined) ? files : undefined
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}
