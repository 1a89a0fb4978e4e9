// A layout is a file before it is written: an ordered list of slots with known lengths. Formats make layouts and never touch a sink, so the
// exact size and the byte map are known before the first byte is written.
import type { Algorithm } from '../digest/index.js'
import type { Track } from '../threads/index.js'
import type { Payload } from './payload.js'

interface SlotBase {
  /** The path of these bytes, as in the byte map of a file that was read. */
  readonly path: string
}

export interface BytesSlot extends SlotBase {
  readonly kind: 'bytes'
  readonly bytes: Uint8Array
  /** The length, if `bytes` is generated on access. */
  readonly length?: number
}

export interface PayloadSlot extends SlotBase {
  readonly kind: 'payload'
  readonly payload: Payload
  /** Set if `payload` does more than give its bytes, such as hash them in passing: the same bytes without that. */
  readonly plain?: Payload
  /** Set if the bytes follow from digests of other bytes of the file, so that nobody has to read those again to make them. */
  readonly derived?: DerivedBytes
}

export interface DerivedBytes {
  /** The digests, as lists of ranges of file offsets; ascending in each list. */
  readonly needs: readonly Track[]
  /** The bytes of the slot, from the digests of each list, which lie one after another. */
  make(digests: readonly Uint8Array[]): Uint8Array | Promise<Uint8Array>
}

export interface ZerosSlot extends SlotBase {
  readonly kind: 'zeros'
  readonly length: number
}

/**
 * A digest of other bytes of the same file. If all of them precede the slot it is written in passing; otherwise it is patched in at the
 * end. Bytes inside `masked` ranges count as zeros.
 */
export interface DigestSlot extends SlotBase {
  readonly kind: 'digest'
  readonly algorithm: Algorithm
  readonly length: number
  /** Ranges of file offsets, ascending, [start, end). */
  readonly covers: readonly (readonly [start: number, end: number])[]
  readonly masked?: readonly (readonly [start: number, end: number])[]
  /** Set if the producer of these bytes computes the digest as well; it is available once all of them have been written. */
  known?(signal?: AbortSignal): Promise<Uint8Array>
  /** How the digest is stored. Default: its raw bytes. */
  encode?(digest: Uint8Array): Uint8Array
}

export type Slot = BytesSlot | PayloadSlot | ZerosSlot | DigestSlot

export interface FileLayout {
  /** A plain file name. */
  readonly name: string
  /**
   * In file order, and the same on every iteration. Formats generate the slots of tensors on the way, so that they are never all in memory.
   */
  readonly slots: Iterable<Slot>
  /** Its bytes depend on a digest that has no sums of pieces: making a part of the file takes as long as making all of it. */
  readonly isIndivisible?: boolean
}

/** The first file represents the model; it appears last, when all others are complete. */
export interface Layout {
  readonly files: readonly FileLayout[]
  /** The output is made from the model and has other tensors than that. */
  readonly isMade?: boolean
}

/** Slots that are generated on every iteration. */
export const slotsMadeBy = (make: () => Iterator<Slot>): Iterable<Slot> => ({ [Symbol.iterator]: make })

/** The bytes of a tensor. */
export const dataSlot = (tensor: string, payload: Payload): PayloadSlot => new DataSlot(tensor, payload)

/** A layout can keep a million of these: the path is made when somebody asks for it. */
class DataSlot implements PayloadSlot {
  readonly kind = 'payload'
  readonly payload: Payload
  readonly #tensor: string

  constructor(tensor: string, payload: Payload) {
    this.payload = payload
    this.#tensor = tensor
  }

  get path(): string {
    return `data[${JSON.stringify(this.#tensor)}]`
  }
}

/** Bytes that are generated on every access. */
export const madeSlot = (path: string, length: number, make: () => Uint8Array): BytesSlot => ({
  kind: 'bytes',
  path,
  length,
  get bytes() {
    return make()
  },
})

export function slotLength(slot: Slot): number {
  if (slot.kind === 'bytes') return slot.length ?? slot.bytes.byteLength
  return slot.kind === 'payload' ? slot.payload.byteLength : slot.length
}

export interface SlotCounts {
  readonly length: number
  readonly bytesSlots: number
  /** The number of bytes in those. */
  readonly headerBytes: number
  readonly digestSlots: number
}

const counted = new WeakMap<FileLayout, SlotCounts>()

/** Iterates over the slots only once per file. */
export function countSlots(file: FileLayout): SlotCounts {
  const known = counted.get(file)
  if (known) return known
  const counts = { length: 0, bytesSlots: 0, headerBytes: 0, digestSlots: 0 }
  for (const slot of file.slots) {
    const length = slotLength(slot)
    counts.length += length
    if (slot.kind === 'digest') counts.digestSlots++
    if (slot.kind !== 'bytes') continue
    counts.bytesSlots++
    counts.headerBytes += length
  }
  counted.set(file, counts)
  return counts
}

export const fileLength = (file: FileLayout): number => countSlots(file).length
export const layoutSize = (layout: Layout): number => layout.files.reduce((sum, file) => sum + fileLength(file), 0)
