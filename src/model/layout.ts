// A layout is a file before it is written: an ordered list of slots, each with a known length. Formats make layouts and never touch a
// sink, so the exact size and the byte map are known before the first byte goes out.
import type { Algorithm } from '../digest/index.js'
import type { Payload } from './payload.js'

interface SlotBase {
  /** The path of what these bytes are, as in the byte map of a file that was read. */
  readonly path: string
}

export interface BytesSlot extends SlotBase {
  readonly kind: 'bytes'
  readonly bytes: Uint8Array
  /** How many there are, where `bytes` makes them only when it is asked. */
  readonly length?: number
}

export interface PayloadSlot extends SlotBase {
  readonly kind: 'payload'
  readonly payload: Payload
}

export interface ZerosSlot extends SlotBase {
  readonly kind: 'zeros'
  readonly length: number
}

/**
 * A digest of other bytes of the same file. When all of them come before the slot it is written in passing; otherwise it is patched
 * in at the end. Bytes inside `masked` ranges count as zeros.
 */
export interface DigestSlot extends SlotBase {
  readonly kind: 'digest'
  readonly algorithm: Algorithm
  readonly length: number
  /** Ranges of file offsets, ascending, [start, end). */
  readonly covers: readonly (readonly [start: number, end: number])[]
  readonly masked?: readonly (readonly [start: number, end: number])[]
  /** Whoever makes these bytes computes the digest on the way, and has it when all of them have been written. */
  known?(signal?: AbortSignal): Promise<Uint8Array>
  /** How the digest is stored; default: its bytes as they are. */
  encode?(digest: Uint8Array): Uint8Array
}

export type Slot = BytesSlot | PayloadSlot | ZerosSlot | DigestSlot

export interface FileLayout {
  /** A plain file name. */
  readonly name: string
  /**
   * In the order of the file, and the same whenever somebody goes through them. A model can have a million tensors, so formats make the
   * slots of tensors on the way: nobody has them all at once.
   */
  readonly slots: Iterable<Slot>
}

/** The first file is the one that stands for the model; it appears last, when all others are complete. */
export interface Layout {
  readonly files: readonly FileLayout[]
}

/** Slots that are made anew each time. */
export const slotsMadeBy = (make: () => Iterator<Slot>): Iterable<Slot> => ({ [Symbol.iterator]: make })

/** Bytes that are made when they are asked for, and again the next time. */
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

/** What a file consists of, in numbers. */
export interface SlotCounts {
  readonly length: number
  readonly bytesSlots: number
  /** How many bytes are in those. */
  readonly headerBytes: number
  readonly digestSlots: number
}

const counted = new WeakMap<FileLayout, SlotCounts>()

/** Goes through the slots once, however often it is asked. */
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
