// Bytes of an output that are generated in pieces. The index of a large model can take a hundred megabytes; since a piece can be generated
// again at any time, the whole need not stay in memory.
import { type BytesSlot, madeSlot } from '../model/layout.js'

/** Up to this size the pieces are kept and generated only once. */
const maxKept = 16 << 20

export class MadeBytes {
  readonly length: number
  readonly #make: (piece: number) => Uint8Array
  readonly #lengths: number[] = []
  #kept: Uint8Array[] | undefined = []

  /** `make` must return the same bytes each time. It is called once per piece, in order, to learn the lengths. */
  constructor(count: number, make: (piece: number) => Uint8Array) {
    this.#make = make
    let length = 0
    for (let piece = 0; piece < count; piece++) {
      const bytes = make(piece)
      this.#lengths.push(bytes.byteLength)
      length += bytes.byteLength
      this.#kept = length <= maxKept ? this.#kept : undefined
      this.#kept?.push(bytes)
    }
    this.length = length
  }

  /** A slot for each piece, whose bytes are generated on access. */
  *slots(path: string): Generator<BytesSlot, void, void> {
    for (const [piece, length] of this.#lengths.entries()) {
      if (length > 0) yield madeSlot(path, length, () => this.#kept?.[piece] ?? this.#make(piece))
    }
  }
}
