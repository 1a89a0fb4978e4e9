// Bytes of an output that are made piece by piece: the index of a million tensors is as large as a hundred megabytes, and as it can be made
// again at any time, it need not be kept.
import { type BytesSlot, madeSlot } from '../model/layout.js'

/** Up to this size the pieces are kept, and made only once. */
const maxKept = 16 << 20

export class MadeBytes {
  readonly length: number
  readonly #make: (piece: number) => Uint8Array
  readonly #lengths: number[] = []
  #kept: Uint8Array[] | undefined = []

  /** `make` gives the same bytes for a piece whenever it is asked. It is called once for each, in order, to know the lengths. */
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

  /** A slot for each piece, whose bytes are made when they are asked for. */
  *slots(path: string): Generator<BytesSlot, void, void> {
    for (const [piece, length] of this.#lengths.entries()) {
      if (length > 0) yield madeSlot(path, length, () => this.#kept?.[piece] ?? this.#make(piece))
    }
  }
}
