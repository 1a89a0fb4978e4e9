// Wrappers: each adds one thing to a source and passes everything else through.
import { type ByteSource, checkRange, type ReadOptions } from './source.js'

export interface ReadCount {
  reads: number
  bytes: number
}

/** Counts what is read, for tests that promise "opening reads the index only" and for reports of what was checked. */
export function countingSource(source: ByteSource, count: ReadCount): ByteSource {
  const add = (length: number): void => {
    count.reads++
    count.bytes += length
  }
  const wrapped: ByteSource = {
    name: source.name,
    size: source.size,
    ...(source.folder && { folder: source.folder }),
    read(offset, length, options) {
      add(length)
      return source.read(offset, length, options)
    },
    close: () => source.close(),
  }
  if (source.readInto) {
    wrapped.readInto = (offset, target, options) => {
      add(target.byteLength)
      return source.readInto!(offset, target, options)
    }
  }
  if (source.sibling) wrapped.sibling = async (name, hint) => countingSource(await source.sibling!(name, hint), count)
  if (source.below) wrapped.below = async (path, hint) => countingSource(await source.below!(path, hint), count)
  if (source.sameOrigin) {
    wrapped.sameOrigin = async (address, hint) => {
      const opened = await source.sameOrigin!(address, hint)
      return opened && countingSource(opened, count)
    }
  }
  return wrapped
}

/**
 * Serves reads inside the first bytes from memory. Detection and parsing both look there, and over a network one request must do.
 */
export function withHead(source: ByteSource, head: Uint8Array): ByteSource {
  const wrapped: ByteSource = {
    name: source.name,
    size: source.size,
    ...(source.folder && { folder: source.folder }),
    ...(source.stored && { stored: source.stored }),
    get handle() {
      return source.handle
    },
    async read(offset: number, length: number, options?: ReadOptions) {
      checkRange(source, offset, length)
      if (offset + length <= head.byteLength) return head.subarray(offset, offset + length)
      return source.read(offset, length, options)
    },
    close: () => source.close(),
  }
  if (source.readInto) wrapped.readInto = (offset, target, options) => source.readInto!(offset, target, options)
  if (source.sibling) wrapped.sibling = (name, hint) => source.sibling!(name, hint)
  if (source.below) wrapped.below = (path, hint) => source.below!(path, hint)
  if (source.sameOrigin) wrapped.sameOrigin = (address, hint) => source.sameOrigin!(address, hint)
  return wrapped
}

/** A part of a source as a source of its own, for containers inside containers (a member of a zip, a chunk). */
export function sliceSource(source: ByteSource, offset: number, length: number, name = source.name): ByteSource {
  checkRange(source, offset, length)
  const slice: ByteSource = {
    name,
    size: length,
    async read(at: number, count: number, options?: ReadOptions) {
      checkRange(slice, at, count)
      return source.read(offset + at, count, options)
    },
    async close() {},
  }
  if (source.readInto) {
    slice.readInto = async (at, target, options) => {
      checkRange(slice, at, target.byteLength)
      return source.readInto!(offset + at, target, options)
    }
  }
  return slice
}
