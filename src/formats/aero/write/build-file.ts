// Puts chunks into a file: header, table of contents, string table, then the chunks on multiples of 16 with zeros between them.
//
// The table of contents holds the hashes of the chunks that come after it. By default those are patched in when everything has been written.
// Where all bytes must be known in order (a set states the SHA-256 of its files; a uuid made from the content is in the header), the
// weights are read once before they are written, for their hashes alone.
import { alignUp, encodeUtf8 } from '../../../bytes/index.js'
import { digestOf } from '../../../digest/index.js'
import { failWith, writeCodes } from '../../../errors/index.js'
import { bytesPayload, type FileLayout, type Slot, slotsMadeBy } from '../../../model/index.js'
import { controlHashSize, encodeControlHash } from '../hash/ihsh.js'
import {
  chunkAlignment,
  digestSize,
  flags,
  fourccBytes,
  hashOffset,
  header,
  magic,
  maxEntries,
  maxStringTable,
  stringTableAlignment,
  tocEntry,
  tocHeader,
} from '../structs.js'
import type { OutChunk } from './out-chunk.js'
import { digestAt, trackOf } from './shards.js'
import { contentUuid } from './uuid.js'

export interface BuildOptions {
  readonly name: string
  /** Undefined: made from the content, which reads the weights first. */
  readonly uuid: Uint8Array | undefined
  readonly controlHash: boolean
  /** Every byte is known before it is written. */
  readonly hashFirst: boolean
}

interface Placed {
  readonly chunk: OutChunk
  readonly offset: number
}

interface FilePlan {
  /** In the order of the table. */
  readonly placed: readonly Placed[]
  readonly strings: Uint8Array
  readonly stringsOffset: number
  /** Where the first chunk begins. */
  readonly controlEnd: number
}

const zeroDigest = new Uint8Array(digestSize)

export async function buildFile(content: readonly OutChunk[], options: BuildOptions): Promise<FileLayout> {
  // Its bytes depend on the rest; until then only its size counts.
  const controlHash = controlHashChunk()
  const plan = planFile(options.controlHash ? [controlHash, ...content] : content, options.name)
  const isLazy = options.hashFirst || options.uuid === undefined
  const control = isLazy ? lazyControl(plan, options) : await patchedControl(plan, options)
  const slotsOfChunk = new Map(plan.placed.map(({ chunk }) => [chunk, slotsOf(chunk, plan, options)]))
  const slots = slotsMadeBy(function* () {
    yield* control.slots
    let reached = plan.controlEnd
    for (const { chunk, offset } of plan.placed.toSorted((a, b) => a.offset - b.offset)) {
      if (offset > reached) yield { kind: 'zeros', path: 'padding', length: offset - reached }
      yield* chunk === controlHash ? [control.hashSlot] : slotsOfChunk.get(chunk)!
      reached = offset + chunk.length
    }
  })
  return { name: options.name, slots }
}

/** Where all bytes must be known in order, nothing is left to be made from hashes later. */
function slotsOf(chunk: OutChunk, { placed }: FilePlan, { hashFirst }: BuildOptions): Iterable<Slot> {
  if (!chunk.derive || hashFirst) return chunk.slots
  const derived = chunk.derive((shard) => placed.find((each) => each.chunk.shard === shard)!.offset)
  return Array.from(chunk.slots, (slot) => (slot.kind === 'payload' ? { ...slot, derived } : slot))
}

function controlHashChunk(): OutChunk {
  return {
    fourcc: 'IHSH',
    name: 'control.integrity',
    flags: flags.optional,
    length: controlHashSize,
    ulen: controlHashSize,
    hash: zeroDigest,
    slots: [],
    computeHash: async () => zeroDigest,
  }
}

function planFile(chunks: readonly OutChunk[], file: string): FilePlan {
  const strings = encodeNames(chunks)
  if (chunks.length > maxEntries || strings.byteLength > maxStringTable) {
    const message = `${chunks.length} chunks with ${strings.byteLength} bytes of names are more than readers accept`
    failWith(writeCodes['name-unsupported'], { file, path: 'toc', message })
  }
  const stringsOffset = alignUp(header.size + tocHeader.size + chunks.length * tocEntry.size, stringTableAlignment)
  const controlEnd = alignUp(stringsOffset + strings.byteLength, chunkAlignment)
  const offsets = new Map<OutChunk, number>()
  let reached = controlEnd
  for (const chunk of chunks.toSorted((a, b) => stageOf(a) - stageOf(b))) {
    const offset = alignUp(reached, Math.max(chunkAlignment, chunk.alignment ?? 1))
    offsets.set(chunk, offset)
    reached = offset + chunk.length
  }
  return { placed: chunks.map((chunk) => ({ chunk, offset: offsets.get(chunk)! })), strings, stringsOffset, controlEnd }
}

const stageOf = ({ stage = 'front' }: OutChunk): number => ['front', 'weights', 'end'].indexOf(stage)

/** The names in the order of the table, each followed by a NUL; padded with zeros to a multiple of eight. */
function encodeNames(chunks: readonly OutChunk[]): Uint8Array {
  const bytes = encodeUtf8(chunks.map(({ name }) => `${name}\0`).join(''))
  const padded = new Uint8Array(alignUp(bytes.byteLength, stringTableAlignment))
  padded.set(bytes)
  return padded
}

/** Header, table and names, up to the first chunk. Hashes that are not known are zeros. */
function encodeControl(plan: FilePlan, uuid: Uint8Array, hashes: readonly (Uint8Array | undefined)[] = []): Uint8Array {
  const { placed, strings, stringsOffset, controlEnd } = plan
  const bytes = new Uint8Array(controlEnd)
  const view = new DataView(bytes.buffer)
  header.writeInto(view, 0, {
    magic: Uint8Array.from(magic),
    versionMajor: 0,
    versionMinor: 1,
    headerSize: header.size,
    tocOffset: BigInt(header.size),
    tocLength: BigInt(tocHeader.size + placed.length * tocEntry.size),
    stringTableOffset: BigInt(stringsOffset),
    stringTableLength: BigInt(strings.byteLength),
    fileFlags: 0n,
    uuid,
    reserved: new Uint8Array(28),
  })
  tocHeader.writeInto(view, header.size, { entryCount: placed.length, reserved0: 0, reserved1: 0n })
  let nameOff = 0
  for (const [i, { chunk, offset }] of placed.entries()) {
    const nameLen = encodeUtf8(chunk.name).byteLength
    tocEntry.writeInto(view, header.size + tocHeader.size + i * tocEntry.size, {
      fourcc: fourccBytes(chunk.fourcc),
      chunkFlags: chunk.flags,
      chunkOffset: BigInt(offset),
      chunkLength: BigInt(chunk.length),
      chunkUlen: BigInt(chunk.ulen),
      nameOff,
      nameLen,
      reserved0: 0n,
      blake3: hashes[i] ?? zeroDigest,
    })
    nameOff += nameLen + 1
  }
  bytes.set(strings, stringsOffset)
  return bytes
}

interface ControlSlots {
  readonly slots: readonly Slot[]
  readonly hashSlot: Slot
}

/** The control hash covers the region with all hashes blank, so it is known at once. */
async function encodeHashOf(plan: FilePlan, uuid: Uint8Array): Promise<Uint8Array> {
  return encodeControlHash(plan.controlEnd, await digestOf('blake3', encodeControl(plan, uuid)))
}

async function patchedControl(plan: FilePlan, options: BuildOptions): Promise<ControlSlots> {
  const uuid = options.uuid!
  const hashBytes = await encodeHashOf(plan, uuid)
  const known = plan.placed.map(({ chunk }) => chunk.hash)
  if (options.controlHash) known[0] = await digestOf('blake3', hashBytes)
  const bytes = encodeControl(plan, uuid, known)
  const slots: Slot[] = []
  let reached = 0
  for (const [i, hash] of known.entries()) {
    if (hash) continue
    const { chunk, offset } = plan.placed[i]!
    const at = hashOffset(header.size, i)
    slots.push({ kind: 'bytes', path: reached === 0 ? 'header' : 'toc', bytes: bytes.subarray(reached, at) })
    slots.push({
      kind: 'digest',
      path: `toc.entries[${i}].blake3`,
      algorithm: 'blake3',
      length: digestSize,
      covers: [[offset, offset + chunk.length]],
      ...(chunk.isHashedInPassing && { known: (signal?: AbortSignal) => chunk.computeHash(signal) }),
    })
    reached = at + digestSize
  }
  slots.push({ kind: 'bytes', path: reached === 0 ? 'header' : 'toc', bytes: bytes.subarray(reached) })
  return { slots, hashSlot: { kind: 'bytes', path: 'control.integrity', bytes: hashBytes } }
}

interface ControlBytes {
  readonly control: Uint8Array
  readonly hashBytes: Uint8Array
}

/** Both, when the hashes of all chunks are known. */
async function controlWith(plan: FilePlan, options: BuildOptions, known: readonly Uint8Array[]): Promise<ControlBytes> {
  const hashes = [...known]
  const uuid = options.uuid ?? (await contentUuid(plan.placed.map(({ chunk }, i) => ({ ...chunk, hash: hashes[i]! }))))
  const hashBytes = await encodeHashOf(plan, uuid)
  if (options.controlHash) hashes[0] = await digestOf('blake3', hashBytes)
  return { control: encodeControl(plan, uuid, hashes), hashBytes }
}

function lazyControl(plan: FilePlan, options: BuildOptions): ControlSlots {
  let known: ControlBytes | undefined
  const compute = async (signal?: AbortSignal): Promise<ControlBytes> => {
    const hashes: Uint8Array[] = []
    for (const { chunk } of plan.placed) hashes.push(chunk.hash ?? (await chunk.computeHash(signal)))
    return controlWith(plan, options, hashes)
  }
  const unknown = plan.placed.filter(({ chunk }) => !chunk.hash).sort((a, b) => a.offset - b.offset)
  const needs = [trackOf(unknown.map(({ chunk, offset }) => ({ start: offset, end: offset + chunk.length })))]
  const hashesFrom = (digests: Uint8Array): Uint8Array[] =>
    plan.placed.map((each) => each.chunk.hash ?? digestAt(digests, unknown.indexOf(each)))
  const lazy = (path: string, byteLength: number, pick: (bytes: ControlBytes) => Uint8Array): Slot => ({
    kind: 'payload',
    path,
    payload: {
      byteLength,
      async *chunks(window, signal) {
        known ??= await compute(signal)
        yield* bytesPayload(pick(known)).chunks(window, signal)
      },
    },
    derived: { needs, make: async ([digests]) => pick(await controlWith(plan, options, hashesFrom(digests!))) },
  })
  return {
    slots: [lazy('header', plan.controlEnd, ({ control }) => control)],
    hashSlot: lazy('control.integrity', controlHashSize, ({ hashBytes }) => hashBytes),
  }
}
