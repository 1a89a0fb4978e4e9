// Gives up on servers that send a byte now and then: they are never silent and never finish. Only time spent waiting for bytes counts, so a
// slow reader is not the server's fault.
import { failWith } from '../errors/index.js'
import { remoteCodes } from './codes.js'

export interface PaceOptions {
  /** The download is given up below this average rate, in bytes per second. 0: never. Default: 1 KiB. */
  readonly minRate?: number | undefined
  /** Milliseconds of waiting over which the rate is measured. Default: 30 s. */
  readonly rateWindow?: number | undefined
}

export class Pace {
  readonly #address: string
  readonly #minRate: number
  readonly #window: number
  #bytes = 0
  #waited = 0

  constructor(address: string, { minRate = 1024, rateWindow = 30_000 }: PaceOptions) {
    this.#address = address
    this.#minRate = minRate
    this.#window = rateWindow
  }

  /** Adds received bytes and the milliseconds spent waiting for them; throws if the rate was too low for too long. */
  add(bytes: number, waited: number): void {
    this.#bytes += bytes
    this.#waited += waited
    if (this.#waited < this.#window) return
    const rate = (this.#bytes * 1000) / this.#waited
    if (rate < this.#minRate) {
      const seconds = Math.round(this.#waited / 100) / 10
      const message = `${this.#bytes} bytes came in ${seconds} s, less than ${this.#minRate} per second; try again later, or set TARE_MIN_RATE to a lower number`
      failWith(remoteCodes['too-slow'], { file: this.#address, message })
    }
    this.#bytes = 0
    this.#waited = 0
  }
}
