// A source that knows how much was read from it: the work on a file is bounded by its size, whatever it says.
import { Broken } from './broken.mjs'

/** Members are looked at for their sizes, for their checksums and for what they hold. */
const timesRead = 32
const smallWork = 1 << 20

export class CountingSource {
  #source
  #total

  constructor(source, total = { read: 0, size: 0 }) {
    this.#source = source
    this.#total = total
    total.size += source.size
  }

  get name() {
    return this.#source.name
  }

  get size() {
    return this.#source.size
  }

  async read(offset, length, options) {
    this.#total.read += length
    return await this.#source.read(offset, length, options)
  }

  async sibling(name) {
    return new CountingSource(await this.#source.sibling(name), this.#total)
  }

  async below(path) {
    return new CountingSource(await this.#source.below(path), this.#total)
  }

  close() {
    return this.#source.close()
  }

  checkWork(what) {
    const { read, size } = this.#total
    if (read > timesRead * size + smallWork)
      throw new Broken(`the work of ${what} is bounded`, `${read} bytes read of ${size}`)
  }
}
