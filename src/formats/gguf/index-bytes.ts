// The beginning of a file, as much of it as was needed so far. Nothing in a GGUF header says how long the index is, so it is fetched in
// growing steps while it is walked through.
import type { ByteSource } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'

const firstStep = 65_536
/** In the usual order tokens come first, and what follows them is about twice as long. */
const growth = 3
/** One step fetches at most so much more than is needed: an index may be a hundred megabytes, and the weights behind it are not wanted. */
const maxAhead = 32 << 20

/** Thrown by a walk that needs bytes which are in the file but not yet here. */
export class Shortage {
  readonly needed: number
  /** Where the walk is likely to go on needing them: a guess that saves steps. */
  readonly likely: number

  constructor(needed: number, likely = needed) {
    this.needed = needed
    this.likely = likely
  }
}

export class IndexBytes {
  readonly source: ByteSource
  readonly #context: ReadContext
  #bytes: Uint8Array = new Uint8Array(0)
  #view: DataView = new DataView(new ArrayBuffer(0))

  constructor(source: ByteSource, context: ReadContext) {
    this.source = source
    this.#context = context
  }

  get bytes(): Uint8Array {
    return this.#bytes
  }

  get view(): DataView {
    return this.#view
  }

  /** Makes sure that the first `size` bytes are here, `likely` if possible. The file must have them. */
  async reach(size: number, likely = size): Promise<void> {
    const have = this.#bytes.byteLength
    if (size <= have) return
    const { report, limits, signal } = this.#context
    if (size > limits.indexBytes) {
      const message = `the index takes more than ${limits.indexBytes} bytes`
      report.fail(codes['index-size'], { offset: have, path: 'header', message })
    }
    const wanted = have === 0 ? firstStep : Math.max(likely + firstStep, Math.min(growth * have, size + maxAhead))
    const length = Math.min(Math.max(size, wanted), this.source.size, limits.indexBytes)
    if (have === 0) this.#bytes = await this.source.read(0, length, { signal })
    else {
      const grown = new Uint8Array(length)
      grown.set(this.#bytes)
      if (this.source.readInto) await this.source.readInto(have, grown.subarray(have), { signal })
      else grown.set(await this.source.read(have, length - have, { signal }), have)
      this.#bytes = grown
    }
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength)
  }

  /** Goes on with a walk that stopped with a shortage; any other error is thrown on. */
  async supply(reason: unknown): Promise<void> {
    if (!(reason instanceof Shortage)) throw reason
    await this.reach(reason.needed, reason.likely)
  }
}
