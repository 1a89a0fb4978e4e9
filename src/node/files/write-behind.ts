import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { releaseWindow, takeWindow } from '../../bytes/index.js'

const bufferBytes = 1 << 20
/** From this size on, writes are not copied. */
const directBytes = 1 << 18
/** As often the disk is set to work, so that little is left for the flush at the end. */
const flushBytes = 256 << 20

/**
 * Small writes are gathered in two buffers: while one is on its way to the file, the other fills. Large ones go to the file as they are:
 * copying them first costs more than the overlap gains, since whoever brings them reads ahead anyway. On the way the disk is set to work in the
 * background, so that the flush at the end finds little left to do.
 */
export class WriteBehind {
  readonly #handle: FileHandle
  readonly #buffers = [takeWindow(bufferBytes), takeWindow(bufferBytes)] as const
  readonly #pending: [Promise<void> | undefined, Promise<void> | undefined] = [undefined, undefined]
  #current: 0 | 1 = 0
  #filled = 0
  #written = 0
  #unflushed = 0
  #flushing: Promise<void> | undefined

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  get position(): number {
    return this.#written + this.#filled
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (bytes.byteLength >= directBytes) return this.#writeDirect(bytes)
    for (let done = 0; done < bytes.byteLength; ) {
      const part = bytes.subarray(done, done + bufferBytes - this.#filled)
      this.#buffers[this.#current].set(part, this.#filled)
      this.#filled += part.byteLength
      done += part.byteLength
      if (this.#filled === bufferBytes) await this.#turn()
    }
  }

  async #writeDirect(bytes: Uint8Array): Promise<void> {
    if (this.#filled > 0) await this.#turn()
    const position = this.#written
    this.#advance(bytes.byteLength)
    const sending = writeFully(this.#handle, bytes, position)
    // Kept like a buffer on its way: an error stays known until the end.
    this.#pending[this.#current] = sending
    await sending
  }

  /** Writes large pieces at once; small ones are gathered by `write`. */
  writeNow(bytes: Uint8Array): boolean {
    if (bytes.byteLength < directBytes) return false
    if (this.#filled > 0) this.#writeAll(this.#buffers[this.#current].subarray(0, this.#filled))
    this.#filled = 0
    this.#writeAll(bytes)
    return true
  }

  #writeAll(bytes: Uint8Array): void {
    const position = this.#written
    this.#advance(bytes.byteLength)
    for (let done = 0; done < bytes.byteLength; )
      done += writeSync(this.#handle.fd, bytes, done, bytes.byteLength - done, position + done)
  }

  /** What has not left the buffer yet is changed there: an archive of many small members patches each of them. */
  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    if (offset >= this.#written) {
      this.#buffers[this.#current].set(bytes, offset - this.#written)
      return
    }
    await this.#sendAll()
    await writeFully(this.#handle, bytes, offset)
  }

  /** All bytes are with the system, and the disk is not at work for us any more. */
  async flush(): Promise<void> {
    await this.#sendAll()
    await this.#flushing
  }

  /** All bytes are with the system. The disk may still be at work, which has nothing to do with what comes next. */
  async #sendAll(): Promise<void> {
    if (this.#filled > 0) await this.#turn()
    await Promise.all(this.#pending)
  }

  /** Sends the current buffer off and goes on with the other, once that one is free. */
  async #turn(): Promise<void> {
    const current = this.#current
    const sending = writeFully(this.#handle, this.#buffers[current].subarray(0, this.#filled), this.#written)
    sending.catch(() => {}) // whoever waits for this buffer next gets the error
    this.#pending[current] = sending
    this.#advance(this.#filled)
    this.#filled = 0
    this.#current = current === 0 ? 1 : 0
    await this.#pending[this.#current]
  }

  #advance(length: number): void {
    this.#written += length
    this.#unflushed += length
    if (this.#unflushed < flushBytes || this.#flushing) return
    this.#unflushed = 0
    const flushing = this.#handle.datasync().then(() => {
      this.#flushing = undefined
    })
    flushing.catch(() => {}) // it stays in its place, for the flush at the end to find
    this.#flushing = flushing
  }

  release(): void {
    for (const buffer of this.#buffers) releaseWindow(buffer)
  }
}

async function writeFully(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.byteLength - done, position + done)
    done += bytesWritten
  }
}
