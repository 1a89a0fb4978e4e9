import { type ByteRange, type ByteSource, checkRange, streamRange } from '../bytes/index.js'
import type { Payload, Slices } from './payload.js'

/** The bytes of a source, unmodified. A class with three fields, since every tensor of a file has one. */
export class RangePayload implements Payload {
  readonly byteLength: number
  readonly source: ByteSource
  readonly offset: number

  /** The range must be inside the source. */
  constructor(source: ByteSource, offset: number, length: number) {
    this.source = source
    this.offset = offset
    this.byteLength = length
  }

  get origin(): ByteRange {
    return { source: this.source, offset: this.offset, length: this.byteLength }
  }

  get slices(): Slices {
    return { unit: 1, take: (at, count) => rangePayload(this.source, this.offset + at, count) }
  }

  async read(at: number, count: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange({ name: this.source.name, size: this.byteLength }, at, count)
    return this.source.read(this.offset + at, count, { signal })
  }

  chunks(window: number, signal?: AbortSignal): AsyncIterable<Uint8Array> {
    return streamRange(this.origin, window, signal)
  }
}

/** Checks the range: a reader cannot return a payload that lies outside its file. */
export function rangePayload(source: ByteSource, offset: number, length: number): Payload {
  checkRange(source, offset, length)
  return new RangePayload(source, offset, length)
}

/** Whether both are the same range of the same source. */
export function isSameRange({ origin: a }: Payload, { origin: b }: Payload): boolean {
  return a !== undefined && a.source === b?.source && a.offset === b.offset && a.length === b.length
}
