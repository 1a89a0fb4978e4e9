// Digests of ranges of a stream. A track is a list of ascending ranges that do not overlap: at most one is open at a time, so a track takes
// one hasher however many ranges it has.
import { type Algorithm, createHasher, type Hasher } from '../../digest/index.js'
import { digestSlot } from './stream-digests.js'

export interface Track {
  readonly algorithm: Algorithm
  /** Where in the stream the ranges start and end. */
  readonly starts: Float64Array
  readonly ends: Float64Array
}

export class TrackHasher {
  readonly #track: Track
  readonly #digests: Uint8Array
  #next = 0
  #hasher: Hasher | undefined

  constructor(track: Track) {
    this.#track = track
    this.#digests = new Uint8Array(track.starts.length * digestSlot)
  }

  /** Takes bytes of the stream, starting at `position`. */
  async update(bytes: Uint8Array, position: number): Promise<void> {
    const { algorithm, starts, ends } = this.#track
    const end = position + bytes.byteLength
    for (; this.#next < starts.length && starts[this.#next]! < end; this.#close()) {
      this.#hasher ??= await createHasher(algorithm)
      const from = Math.max(starts[this.#next]!, position)
      const to = Math.min(ends[this.#next]!, end)
      if (from < to) this.#hasher.update(bytes.subarray(from - position, to - position))
      if (ends[this.#next]! > end) return
    }
  }

  #close(): void {
    this.#digests.set(this.#hasher!.digest(), this.#next * digestSlot)
    this.#hasher = undefined
    this.#next++
  }

  /** One slot per range, including empty ranges at the very end of the stream. */
  async finish(): Promise<Uint8Array> {
    while (this.#next < this.#track.starts.length) {
      this.#hasher ??= await createHasher(this.#track.algorithm)
      this.#close()
    }
    return this.#digests
  }
}
