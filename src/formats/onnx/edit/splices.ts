// A file in which some bytes are replaced. In protobuf the length of a message stands before it, so where something in a message becomes longer or
// shorter, the lengths of all messages around it change too. Everything else stays as it is and is never read.
import type { ByteSource } from '../../../bytes/index.js'
import { inOrder, type Range } from '../../../bytes/ranges.js'
import { type Payload, rangePayload, type Slot } from '../../../model/index.js'
import type { ProtobufReader } from '../../../wire/protobuf/protobuf.js'
import { protoPrefix } from '../../../wire/protobuf/write.js'

interface Splice extends Range {
  readonly pieces: readonly (Uint8Array | Payload)[]
}

const sizeOf = (pieces: readonly (Uint8Array | Payload)[]): number =>
  pieces.reduce((sum, piece) => sum + piece.byteLength, 0)

/** The place of a field: its content, and where its tag is. */
export interface FieldPlace extends Range {
  readonly field: number
  readonly at: number
}

/** The reader forgets where it was as soon as it walks on. */
export const placeOf = ({ field, at, start, end }: ProtobufReader): FieldPlace => ({ field, at, start, end })

/** Ranges up to this length are kept in memory, as long as all of them together are small enough: then they can move in place. */
const smallRange = 1 << 16
const maxInMemory = 1 << 24

export class Splices {
  readonly #list: Splice[] = []
  /** By how much the message that is being walked grows. */
  #growth = 0

  /** Replaces bytes by others; inserts them where `start` is `end`. */
  replace(start: number, end: number, ...pieces: readonly (Uint8Array | Payload)[]): void {
    this.#list.push({ start, end, pieces })
    this.#growth += sizeOf(pieces) - (end - start)
  }

  replaceField({ at, end }: FieldPlace, bytes: Uint8Array): void {
    this.replace(at, end, bytes)
  }

  /** Runs `work`, which replaces bytes in the message that this field holds, and corrects the length of the message. */
  async inside({ field, at, start, end }: FieldPlace, work: () => Promise<void>): Promise<void> {
    const around = this.#growth
    this.#growth = 0
    await work()
    const growth = this.#growth
    this.#growth = around + growth
    if (growth !== 0) this.replace(at, start, protoPrefix(field, end - start + growth))
  }

  /** The file as it becomes. */
  async slots(source: ByteSource, signal?: AbortSignal): Promise<Slot[]> {
    const slots: Slot[] = []
    let [at, inMemory] = [0, 0]
    const keep = async (end: number): Promise<void> => {
      const length = end - at
      if (length === 0) return
      const isSmall = length <= smallRange && inMemory + length <= maxInMemory
      if (isSmall) inMemory += length
      slots.push(
        isSmall
          ? { kind: 'bytes', path: 'file', bytes: await source.read(at, length, { signal }) }
          : { kind: 'payload', path: 'file', payload: rangePayload(source, at, length) },
      )
    }
    // What is inserted at the same place stays in the order in which it came: from the inside out.
    for (const { start, end, pieces } of inOrder(this.#list, 'shortest')) {
      await keep(start)
      for (const piece of pieces)
        slots.push(
          piece instanceof Uint8Array
            ? { kind: 'bytes', path: 'file', bytes: piece }
            : { kind: 'payload', path: 'data', payload: piece },
        )
      at = end
    }
    await keep(source.size)
    return slots
  }
}
