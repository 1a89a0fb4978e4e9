// Reading from a file, at once or through another thread. What the system has in its memory is copied from there at more than 10 GB/s;
// handing that to a thread and hearing back takes about as long again, and two cores pass the bytes between their caches. What has to come
// from a disk is better waited for elsewhere. Nobody tells beforehand which it will be, so the last reads are taken as a guess.
import { read, readSync } from 'node:fs'
import type { Descriptor } from './descriptors.js'

/** Always read at once: even from a disk it is one access. */
const fewBytes = 64 << 10
/** A read that takes this thread longer than a few frames of a display is never tried. */
const manyBytes = 8 << 20
/** Milliseconds that a byte takes at most, and a call besides, when the system had it in its memory. */
const byteTime = 1e-6
const callTime = 0.2
/** So many reads in a row must have been slow: a single one may have lost its turn on a busy machine, without any wait for a disk. */
const slowReads = 2
/** After reads that had to wait, so many go to another thread before the next is tried here. */
const patience = 32
/** Timers, signals and answers of other threads, which wait for their next job, have their turn after so many bytes; a call counts like some of them. */
const turnBytes = 1 << 20
const callBytes = 16 << 10

export class DescriptorReads {
  readonly #file: Descriptor
  #elsewhere = 0
  #slow = 0
  #sinceTurn = 0

  constructor(file: Descriptor) {
    this.#file = file
  }

  /** How many bytes came, perhaps fewer than asked for; none at the end of the file. */
  async read(target: Uint8Array, start: number, length: number, position: number): Promise<number> {
    if (length > manyBytes || (length > fewBytes && this.#elsewhere > 0)) {
      if (this.#elsewhere > 0) this.#elsewhere--
      return this.#file.use((fd) => readElsewhere(fd, target, start, length, position))
    }
    this.#sinceTurn += length + callBytes
    if (this.#sinceTurn >= turnBytes) await this.#takeTurn()
    const begin = performance.now()
    const got = this.#file.useNow((fd) => readSync(fd, target, start, length, position))
    this.#slow = performance.now() - begin > callTime + got * byteTime ? this.#slow + 1 : 0
    if (this.#slow >= slowReads) this.#elsewhere = patience
    return got
  }

  async #takeTurn(): Promise<void> {
    this.#sinceTurn = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const readElsewhere = (fd: number, target: Uint8Array, start: number, length: number, at: number): Promise<number> =>
  new Promise((resolve, reject) => {
    read(fd, target, start, length, at, (error, count) => (error ? reject(error) : resolve(count)))
  })
