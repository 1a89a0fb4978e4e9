import { readSync } from 'node:fs'
import { BlobSource, type ByteSource, checkRange, type SourceHandle } from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { ioError } from '../../node/files/io-error.js'

/** A file that another thread has open. A worker has nothing else to do meanwhile, so it reads synchronously. */
class DescriptorSource implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #descriptor: number

  constructor(name: string, size: number, descriptor: number) {
    this.name = name
    this.size = size
    this.#descriptor = descriptor
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const target = new Uint8Array(length)
    await this.readInto(offset, target)
    return target
  }

  async readInto(offset: number, target: Uint8Array): Promise<void> {
    checkRange(this, offset, target.byteLength)
    for (let done = 0; done < target.byteLength; ) {
      const got = this.#readSome(offset + done, target, done)
      if (got === 0) {
        const message = `${target.byteLength} bytes were requested, but the file now ends after ${done} of them`
        failWith(ioCodes['short-read'], { file: this.name, offset, length: target.byteLength, message })
      }
      done += got
    }
  }

  #readSome(offset: number, target: Uint8Array, start: number): number {
    try {
      return readSync(this.#descriptor, target, start, target.byteLength - start, offset)
    } catch (error) {
      const { code, severity, message, file } = ioError(error, this.name).finding
      return failWith({ code, severity, text: message }, { file, message, offset }, { cause: error })
    }
  }

  async close(): Promise<void> {}
}

export function openHandle(handle: SourceHandle): ByteSource {
  if (handle.kind === 'blob') return new BlobSource(handle.blob, handle.name)
  if (handle.kind === 'shared') throw new Error(`${handle.name} is opened by other machines`)
  return new DescriptorSource(handle.name, handle.size, handle.descriptor)
}
