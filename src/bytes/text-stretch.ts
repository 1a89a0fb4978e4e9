// Short texts that are read one after another are cut out of one that holds many: that takes a fraction of the time that it takes to make
// each of them.
import { textOfUnits } from './unit-text.js'

/** So many bytes become one text, of which others are parts. */
const stretchLength = 1 << 14
/** Texts that lie closer than that are read one after another. */
const nearBytes = 256

export class TextStretch {
  #text = ''
  #bytes: Uint8Array | undefined
  #start = 0
  /** Where the last text ended. */
  #lastBytes: Uint8Array | undefined
  #lastEnd = 0

  /** The text of bytes that each stand for a character; those before `settled` will not change any more. */
  textOf(bytes: Uint8Array, from: number, to: number, settled = bytes.byteLength): string {
    const isNext = bytes === this.#lastBytes && from >= this.#lastEnd && from - this.#lastEnd < nearBytes
    this.#lastBytes = bytes
    this.#lastEnd = to
    if (bytes !== this.#bytes || from < this.#start || to > this.#start + this.#text.length) {
      if (!isNext || to - from > stretchLength) return textOfUnits(bytes, from, to)
      this.#text = textOfUnits(bytes, from, Math.min(from + stretchLength, settled))
      this.#bytes = bytes
      this.#start = from
    }
    return this.#text.slice(from - this.#start, to - this.#start)
  }
}
