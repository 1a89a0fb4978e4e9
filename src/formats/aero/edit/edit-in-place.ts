// Chunks lie wherever the table of contents says. The metadata chunks that an edit rewrites go where there is room; table, hashes and the
// control hash are made to match; the weight shards keep their places and their hashes.
import { areApart, type ByteSource, Cursor, type Range } from '../../../bytes/index.js'
import { digestOf } from '../../../digest/index.js'
import { strictReport } from '../../../errors/index.js'
import type { FileLayout, Model, WriteOptions } from '../../../model/index.js'
import { type EditPiece, EditSpace } from '../../../writing/edit-space.js'
import { type Chunk, endOf } from '../control/chunk.js'
import type { Control } from '../control/control.js'
import { regionsOf } from '../control/regions.js'
import { type AeroFile, fileOf } from '../file.js'
import { blankHashes, controlHashSize, encodeControlHash } from '../hash/ihsh.js'
import { copyOf } from '../layout.js'
import { chunkAlignment, hashOffset, header, tocEntry, tocHeader } from '../structs.js'
import { uuidAfter } from '../write/uuid.js'
import { makeNewChunks, type NewChunk } from './edit-chunks.js'

/** Behind the weights, chunks up to this size move together, so that no gaps stay between them. */
const smallChunk = 1 << 20
/** The control hash covers all bytes before the first chunk; a file with more of them is rewritten as a whole. */
const maxControl = 1 << 26

export async function editInPlace(
  model: Model,
  edited: Model,
  { name, signal }: WriteOptions,
): Promise<FileLayout | undefined> {
  const file = fileOf(model)
  if (!file || model.files.length > 1 || file.control.chunks.length !== file.control.entryCount) return undefined
  const { control } = file
  if (!areApart(regionsOf(control))) return undefined
  const made = await makeNewChunks(file, edited, signal)
  if (!made) return undefined
  if (made.size === 0) return copyOf(file, name)
  const { controlHash: ihsh } = file
  // Its content depends on the places of the others.
  if (ihsh) made.set(ihsh, { ...ihsh, bytes: new Uint8Array(controlHashSize), ulen: controlHashSize })
  await freeTail(file, made, signal)
  const slots = await place(file, made, signal)
  return slots && { name, slots }
}

/** Small chunks behind the weights may move as well. */
async function freeTail(
  { control, source }: AeroFile,
  made: Map<Chunk, NewChunk>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const old = control.chunks.filter((chunk) => !made.has(chunk))
  const isAnchor = ({ fourcc, length }: Chunk): boolean => fourcc === 'WTSH' || length === 0 || length > smallChunk
  const end = old.filter(isAnchor).reduce((max, chunk) => Math.max(max, endOf(chunk)), 0)
  for (const chunk of old) {
    if (isAnchor(chunk) || chunk.offset < end) continue
    made.set(chunk, { ...chunk, bytes: (await source.read(chunk.offset, chunk.length, { signal })).slice() })
  }
}

const rangeOf = (chunk: Chunk): Range => ({ start: chunk.offset, end: endOf(chunk) })

async function place(
  { control, source, controlHash: ihsh }: AeroFile,
  made: ReadonlyMap<Chunk, NewChunk>,
  signal: AbortSignal | undefined,
): Promise<FileLayout['slots'] | undefined> {
  const { tocOffset, tocLength, stringsOffset, stringsLength } = control
  const freed = [...made.keys()].map(rangeOf)
  const staying = [
    { start: 0, end: header.size },
    { start: tocOffset, end: tocOffset + tocLength },
    { start: stringsOffset, end: stringsOffset + stringsLength },
    ...control.chunks.filter((chunk) => !made.has(chunk)).map(rangeOf),
  ]
  const space = await EditSpace.in(source, { staying, freed, alignment: chunkAlignment, signal })
  const offsets = new Map<Chunk, number>()
  for (const [chunk, { bytes }] of [...made].sort(([a], [b]) => a.offset - b.offset))
    offsets.set(chunk, space.place(bytes.byteLength, rangeOf(chunk)))
  if (space.isWasteful) return undefined
  const now = control.chunks.map((chunk): Chunk => {
    const { flags, bytes, ulen, hash } = made.get(chunk) ?? {}
    if (!bytes) return chunk
    return { ...chunk, flags: flags!, offset: offsets.get(chunk)!, length: bytes.byteLength, ulen: ulen!, hash: hash! }
  })
  const uuid = await uuidAfter(control.uuid, control.chunks, now)
  const head = new Uint8Array(await source.read(0, header.size, { signal }))
  head.set(uuid, header.offsetOf('uuid'))
  const toc = await encodeToc(source, tocOffset, now, signal)
  const fixed: EditPiece[] = [
    { path: 'header', offset: 0, bytes: head },
    { path: 'toc', offset: tocOffset, bytes: toc },
  ]
  const pieces = [...made].map(([chunk, { bytes }]) => ({ path: chunk.name, offset: offsets.get(chunk)!, bytes }))
  if (ihsh) {
    const end = now.reduce((min, { offset, length }) => (length > 0 ? Math.min(min, offset) : min), Infinity)
    if (tocOffset + tocLength > end || stringsOffset + stringsLength > end || end > maxControl) return undefined
    const bytes = encodeControlHash(end, await digestControl(source, end, fixed, freed, control, signal))
    pieces.find(({ offset }) => offset === offsets.get(ihsh))!.bytes = bytes
    toc.set(await digestOf('blake3', bytes), hashOffset(0, ihsh.index))
  }
  return space.slots([...fixed, ...pieces])
}

/** The table as it was, with the new places and hashes of the chunks. */
async function encodeToc(
  source: ByteSource,
  tocOffset: number,
  chunks: readonly Chunk[],
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const toc = new Uint8Array(await source.read(tocOffset, tocHeader.size + chunks.length * tocEntry.size, { signal }))
  const view = new DataView(toc.buffer)
  for (const { index, flags, offset, length, ulen, hash } of chunks) {
    const at = tocHeader.size + index * tocEntry.size
    const cursor = new Cursor(toc, strictReport(source.name))
    cursor.seek(at)
    const { fourcc, nameOff, nameLen, reserved0 } = tocEntry.read(cursor)
    tocEntry.writeInto(view, at, {
      ...{ fourcc: fourcc.slice(), chunkFlags: flags, chunkOffset: BigInt(offset) },
      ...{ chunkLength: BigInt(length), chunkUlen: BigInt(ulen), nameOff, nameLen, reserved0, blake3: hash },
    })
  }
  return toc
}

/** The digest of everything before the first chunk, with the hashes in the table counted as zeros. */
async function digestControl(
  source: ByteSource,
  end: number,
  pieces: readonly EditPiece[],
  freed: readonly Range[],
  control: Control,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(end)
  bytes.set(await source.read(0, Math.min(end, source.size), { signal }))
  for (const { start, end: freedEnd } of freed) bytes.fill(0, start, Math.max(start, freedEnd))
  for (const piece of pieces) bytes.set(piece.bytes, piece.offset)
  blankHashes(bytes, 0, control)
  return digestOf('blake3', bytes)
}
