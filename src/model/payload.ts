// A payload is bytes that are elsewhere: a range of a source, or the result of a transform that runs when it is read.
import { type ByteRange, type ByteSource, checkRange, releaseWindow, streamRange, takeWindow } from '../bytes/index.js'
import { failWith, writeCodes } from '../errors/index.js'
import type { Recipe } from './recipe.js'

/** Bytes that are elsewhere, to be read in windows or, where `read` is there, in any order. */
export interface Payload {
  readonly byteLength: number
  /** Set if these are unmodified bytes of a source: identifies shared storage, and allows copying without recoding. */
  readonly origin?: ByteRange
  /** How another thread can produce the same bytes; undefined if none can. */
  recipe?(): Recipe | undefined
  /** Other threads produce the bytes while this one waits for them, so reading should start early. */
  readonly isMadeElsewhere?: boolean | undefined
  /** What making a byte takes, in nanoseconds, about; absent where nobody knows. */
  readonly cost?: number | undefined
  /** Slices that can be read without the rest, if possible. */
  readonly slices?: Slices | undefined
  /** Random access, if the payload supports it. */
  read?(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
  /** All bytes in order. Every chunk but the last has exactly `window` bytes. A chunk is valid only until the next one is requested. */
  chunks(window: number, signal?: AbortSignal): AsyncIterable<Uint8Array>
}

export interface Slices {
  /** Slices start at multiples of this, and end at one or at the end of the payload. */
  readonly unit: number
  /** In order up to the end, where some bytes take more work than others, and slices together more than the whole. */
  readonly costRanges?: readonly CostRange[] | undefined
  take(offset: number, length: number): Payload
}

export interface CostRange {
  readonly end: number
  /** What making a byte of it by itself takes, in nanoseconds, about. */
  readonly cost: number
}

/** Bytes in memory. */
class BytesPayload implements Payload {
  readonly byteLength: number
  private readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.byteLength = bytes.byteLength
    this.bytes = bytes
  }

  async read(at: number, count: number): Promise<Uint8Array> {
    checkRange({ name: 'memory', size: this.byteLength }, at, count)
    return this.bytes.subarray(at, at + count)
  }

  async *chunks(window: number): AsyncGenerator<Uint8Array, void, void> {
    for (let at = 0; at < this.byteLength; at += window)
      yield this.bytes.subarray(at, Math.min(at + window, this.byteLength))
  }
}

export const bytesPayload = (bytes: Uint8Array): Payload => new BytesPayload(bytes)

/** All bytes of a payload in a new buffer. For small payloads only: parts, previews, tests. */
export async function readPayload(payload: Payload, signal?: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(payload.byteLength)
  let at = 0
  for await (const chunk of payload.chunks(1 << 20, signal)) {
    if (at + chunk.byteLength > bytes.byteLength) break
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  if (at !== bytes.byteLength) {
    const message = `a payload of ${payload.byteLength} bytes gave ${at}`
    failWith(writeCodes['layout-mismatch'], { file: payload.origin?.source.name ?? 'payload', message })
  }
  return bytes
}

/**
 * A payload produced on the fly: `produce` yields pieces of any size and `rechunked` cuts them into windows. Each piece may be overwritten
 * once the next one is requested.
 */
export function lazyPayload(byteLength: number, produce: (signal?: AbortSignal) => AsyncIterable<Uint8Array>): Payload {
  return { byteLength, chunks: (window, signal) => rechunked(produce(signal), window) }
}

export async function* rechunked(
  pieces: AsyncIterable<Uint8Array>,
  window: number,
): AsyncGenerator<Uint8Array, void, void> {
  let kept: Uint8Array | undefined
  let filled = 0
  try {
    for await (let piece of pieces) {
      if (filled > 0) {
        const part = piece.subarray(0, window - filled)
        kept!.set(part, filled)
        filled += part.byteLength
        piece = piece.subarray(part.byteLength)
        if (filled < window) continue
        yield kept!
        filled = 0
      }
      while (piece.byteLength >= window) {
        yield piece.subarray(0, window)
        piece = piece.subarray(window)
      }
      if (piece.byteLength > 0) {
        kept ??= takeWindow(window)
        kept.set(piece)
        filled = piece.byteLength
      }
    }
    if (filled > 0) yield kept!.subarray(0, filled)
  } finally {
    if (kept) releaseWindow(kept)
  }
}

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

/** How another thread can produce the bytes; undefined if only this one can. */
export function recipeOf(payload: Payload | null): Recipe | undefined {
  if (payload?.recipe) return payload.recipe()
  const origin = payload?.origin
  const handle = origin?.source.handle
  return handle && { kind: 'range', handle, offset: origin!.offset, length: origin!.length }
}
