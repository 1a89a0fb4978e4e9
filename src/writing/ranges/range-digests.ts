// Sums up the bytes of a range for all digests of the file that cover some of them. Late slots are left out: their bytes are known last, and
// the finisher adds them.
import { createPieceHasher, type DigestPiece, type PieceHasher } from '../../digest/pieces.js'
import type { WantedDigest, WantedDigests } from './slot-table.js'

/** What some bytes contribute to a digest of the file. */
export interface DigestShare {
  /** The number of the digest in the file. */
  readonly digest: number
  readonly piece: DigestPiece
}

interface Live {
  readonly wanted: WantedDigest
  /** File offsets. */
  readonly from: number
  readonly to: number
  readonly hasher: PieceHasher
}

/** Takes adjacent bytes, `from` to `to` of the file, in order. */
export class RangeDigests {
  readonly #from: number
  readonly #to: number
  #position: number
  /** The next one last. */
  readonly #waiting: WantedDigest[]
  #live: Live[] = []
  readonly #shares: DigestShare[] = []

  constructor(digests: WantedDigests, from: number, to: number) {
    this.#from = from
    this.#to = to
    this.#position = from
    this.#waiting = digests.within(from, to).reverse()
  }

  async update(bytes: Uint8Array): Promise<void> {
    const start = this.#position
    const end = start + bytes.byteLength
    this.#position = end
    for (let next = this.#waiting.at(-1); next && next.start < end; next = this.#waiting.at(-1)) {
      this.#waiting.pop()
      await this.#begin(next)
    }
    if (this.#live.length === 0) return
    const rest: Live[] = []
    for (const live of this.#live) {
      live.hasher.update(bytes.subarray(Math.max(0, live.from - start), live.to - start))
      if (live.to > end) rest.push(live)
      else this.#shares.push({ digest: live.wanted.number, piece: live.hasher.finish() })
    }
    this.#live = rest
  }

  async #begin(wanted: WantedDigest): Promise<void> {
    const from = Math.max(wanted.start, this.#from)
    const to = Math.min(wanted.end, this.#to)
    const { algorithm, start, end } = wanted
    const hasher = await createPieceHasher(algorithm, end - start, from - start, to - start)
    if (hasher) this.#live.push({ wanted, from, to, hasher })
  }

  /** To be called after the last bytes. */
  shares(): readonly DigestShare[] {
    return this.#shares
  }
}
