// The format has no index: what is in a file is found by walking from record to record and stepping over the data in between. Here the
// file is brought in, window by window. Where the data of a tensor is small, windows grow and the walk goes through the file; where it
// is large, only a little is read behind each jump. So a model of many gigabytes is listed by reading some hundred bytes per parameter.
import { type ByteSource, releaseWindow, takeWindow } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import { type MsgpackReader, windowEnd } from '../../wire/msgpack.js'
import { codes } from './codes.js'

/** Read behind a jump: enough for a key, a shape and the next count. */
const smallest = 128
const largest = 1 << 22
/** Reading this much costs no more than another read: a jump over less is no jump. */
const nearby = 1 << 15

export class Windows {
  readonly #source: ByteSource
  readonly #reader: MsgpackReader
  readonly #context: ReadContext
  #buffer: Uint8Array | undefined
  #size = smallest
  #end: number

  /** `reader` starts with an empty window, at its base. */
  constructor(source: ByteSource, reader: MsgpackReader, context: ReadContext) {
    this.#source = source
    this.#reader = reader
    this.#context = context
    this.#end = reader.offset
  }

  /**
   * Repeats a step until it says that it was the last. A step that runs out of the window is done again from its beginning, so it must
   * keep its results to itself until it is through.
   */
  async run(step: () => boolean, discard: () => void): Promise<void> {
    for (;;) {
      const start = this.#reader.offset
      try {
        if (!step()) return
      } catch (error) {
        if (error !== windowEnd) throw error
        discard()
        await this.#fetch(start)
      }
    }
  }

  close(): void {
    if (this.#buffer) releaseWindow(this.#buffer)
    this.#buffer = undefined
  }

  async #fetch(offset: number): Promise<void> {
    const known = this.#end - offset
    this.#size = -known > nearby ? smallest : Math.min(largest, 2 * this.#size)
    const size = Math.min(Math.max(this.#size, 2 * known), this.#source.size - offset)
    if (size > Math.max(largest, this.#context.limits.indexBytes)) {
      this.#context.report.fail(codes['index-limit'], {
        offset,
        path: this.#reader.where(),
        message: `more than ${this.#context.limits.indexBytes} bytes would have to be read for one record`,
      })
    }
    this.#reader.moveTo(await this.#read(offset, size), offset)
    this.#end = offset + size
  }

  /** Large windows share one buffer: nothing of a window is kept when the next one comes. */
  async #read(offset: number, size: number): Promise<Uint8Array> {
    const { signal } = this.#context
    if (size < largest / 4 || size > largest || !this.#source.readInto)
      return this.#source.read(offset, size, { signal })
    this.#buffer ??= takeWindow(largest)
    const window = this.#buffer.subarray(0, size)
    await this.#source.readInto(offset, window, { signal })
    return window
  }
}
