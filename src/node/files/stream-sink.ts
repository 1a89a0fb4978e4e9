import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { ByteSink } from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { ioError } from './io-error.js'

/** Standard output or another stream. Written bytes can neither be patched nor taken back. */
export class StreamSink implements ByteSink {
  readonly name: string
  readonly canPatch = false
  readonly #stream: Writable
  readonly #ends: boolean
  readonly #beforeEnd: (() => Promise<void>) | undefined
  #position = 0

  /** `ends`: closing the sink ends the stream, which standard output does not allow. An exception from `beforeEnd` can only be reported. */
  constructor(stream: Writable, name: string, ends: boolean, beforeEnd?: () => Promise<void>) {
    this.name = name
    this.#stream = stream
    this.#ends = ends
    this.#beforeEnd = beforeEnd
    stream.on('error', ignore) // each write reports its own failure
  }

  get position(): number {
    return this.#position
  }

  /** Settles when the stream no longer uses the buffer. A reader that went away is an error with the system's EPIPE as its cause. */
  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength === 0) return
    await new Promise<void>((resolve, reject) => {
      this.#stream.write(bytes, (error) => (error ? reject(ioError(error, this.name)) : resolve()))
    })
    this.#position += bytes.byteLength
  }

  async patch(offset: number): Promise<void> {
    failWith(ioCodes['needs-seek'], {
      file: this.name,
      offset,
      message: 'what has gone into a stream cannot be changed',
    })
  }

  async close(): Promise<void> {
    await this.#beforeEnd?.()
    this.#stream.off('error', ignore)
    if (!this.#ends) return
    this.#stream.end()
    await once(this.#stream, 'close')
  }

  async abort(): Promise<void> {
    if (this.#ends) this.#stream.destroy()
  }
}

function ignore(): void {}
