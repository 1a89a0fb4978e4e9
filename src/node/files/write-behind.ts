import { writeSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { releaseWindow, takeWindow } from '../../bytes/index.js'

const bufferBytes = 1 << 20
/** Writes of at least this size are not copied. */
const directBytes = 1 << 18
/** How often a background flush is started, so that little is left for the one at the end. */
const flushBytes = 256 << 20

/**
 * Small writes are collected in two buffers: while one is being written, the other fills. Large ones are written directly: copying them
 * first costs more than the overlap gains, since their producers read ahead anyway. The disk is flushed in the background from time to
 * time, so that the final flush finds little to do.
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
    // Kept like a buffer being written: an error must stay known until the end.
    this.#pending[this.#current] = sending
    await sending
  }

  /** Writes large pieces at once, and takes small ones that leave room in the buffer; others are for `write`. */
  writeNow(bytes: Uint8Array): boolean {
    if (bytes.byteLength < directBytes) {
      if (this.#filled + bytes.byteLength >= bufferBytes) return false
      this.#buffers[this.#current].set(bytes, this.#filled)
      this.#filled += bytes.byteLength
      return true
    }
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

  /** Patches bytes that are still in the buffer there: an archive of many small members patches each of them. */
  patchNow(offset: number, bytes: Uint8Array): boolean {
    if (offset < this.#written) return false
    this.#buffers[this.#current].set(bytes, offset - this.#written)
    return true
  }

  async patch(offset: number, bytes: Uint8Array): Promise<void> {
    if (this.patchNow(offset, bytes)) return
    await this.#sendAll()
    await writeFully(this.#handle, bytes, offset)
  }

  /** All bytes are written and flushes have ended. */
  async flush(): Promise<void> {
    await this.#sendAll()
    await this.#flushing
  }

  /** All bytes are written. A background flush may still run, which does not affect what follows. */
  async #sendAll(): Promise<void> {
    if (this.#filled > 0) await this.#turn()
    await Promise.all(this.#pending)
  }

  /** Starts writing the current buffer and continues with the other once that is free. */
  async #turn(): Promise<void> {
    const current = this.#current
    const sending = writeFully(this.#handle, this.#buffers[current].subarray(0, this.#filled), this.#written)
    sending.catch(() => {}) // reported to the next user of this buffer
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
    flushing.catch(() => {}) // stays stored, for the final flush to report
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
