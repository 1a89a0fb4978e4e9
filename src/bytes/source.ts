// A source is a size and a ranged read. Everything that can be opened is one: memory, a Blob, a file, an HTTP address. Ranges of it are
// streamed in windows.
import { failWith, ioCodes } from '../errors/index.js'
import { releaseWindow, takeWindow } from './window.js'

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined
  /** How many bytes behind these will be asked for next; sources that fetch from afar then ask once for all of them. */
  readonly ahead?: number | undefined
  /** Nothing behind that will be asked for, so that guessing further is in vain. */
  readonly isLast?: boolean | undefined
}

/** What is known about a file before it is opened. */
export interface OpenHint {
  /** How many of its first bytes will be wanted at once; sources that fetch from afar then ask once for all of them. */
  readonly first?: number | undefined
}

/** The directory that a source lies in, where the source stands for more than itself. */
export interface SourceFolder {
  /** What the directory is called. */
  readonly name: string
  /** The plain names of the files in it. */
  readonly files: readonly string[]
  /** Files in folders below that belong to the model, by path, as far as they were looked for. */
  readonly below?: readonly string[]
  /** The directory was opened; otherwise only its main file was, and the others are merely there. */
  readonly isWhole: boolean
}

/** With this a worker thread reads the same source by itself, as long as the source is open here. Plain data. */
export type SourceHandle = { readonly name: string; readonly size: number } & (
  | { readonly kind: 'descriptor'; readonly descriptor: number }
  | { readonly kind: 'blob'; readonly blob: Blob }
  | SharedPlace
)

/** Where other machines find a source: from an address that all of them can open, step by step to the file. */
export interface SharedPlace {
  readonly kind: 'shared'
  readonly address: string
  readonly steps: readonly (readonly [step: 'sibling' | 'below' | 'sameOrigin', name: string])[]
  /** As of the source. */
  readonly version?: string | undefined
}

/** An object in an object store, which can copy ranges of it into another object by itself. */
export interface StoredObject {
  /** Objects of the same store can be copied into each other. */
  readonly store: string
  readonly bucket: string
  readonly key: string
  /** The version that was opened. */
  readonly etag: string
}

/** Where bytes come from: a size and a ranged read. It can be the input of `openModel`. */
export interface ByteSource {
  /** How the source is called in messages, normally the path as the user gave it. */
  readonly name: string
  readonly size: number
  /** Exactly `length` bytes, or a TareError. The result may be a read-only view: do not write into it. */
  read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array>
  /** Fills `target`; sources that can avoid a copy offer this. */
  readInto?(offset: number, target: Uint8Array, options?: ReadOptions): Promise<void>
  /** Another file of a multi-file model. `name` is a plain file name, already checked by `isPlainFileName`. */
  sibling?(name: string, hint?: OpenHint): Promise<ByteSource>
  /** The same for a file in a folder below: plain names joined by `/`. */
  below?(path: string, hint?: OpenHint): Promise<ByteSource>
  /** A file at another address of the same origin, asked with the same credentials. Undefined for every other address. */
  sameOrigin?(address: string, hint?: OpenHint): Promise<ByteSource | undefined>
  readonly folder?: SourceFolder | undefined
  /** Absent where the bytes can be read in this thread only. */
  readonly handle?: SourceHandle | undefined
  /** Set if the bytes of this source are those of an object, at the same offsets. */
  readonly stored?: StoredObject | undefined
  /** Names this state of the bytes, as far as the source can tell: an ETag, or the time of the last change. */
  readonly version?: string | undefined
  /** Throws when the bytes are no longer those that were there in the beginning, as far as the source can tell. */
  assertUnchanged?(): Promise<void>
  /** Releases the file or connection. Reads after this fail. */
  close(): Promise<void>
}

/**
 * Whether a name found inside a model may be opened as a file beside it: a plain file name, with no way to lead elsewhere. Directories,
 * `..`, absolute paths, drive letters, backslashes, URLs and NUL are all refused.
 */
export function isPlainFileName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || name.length > 255) return false
  return !/[/\\:\u0000]/.test(name)
}

/** The same for a file in a folder below: plain names joined by `/`. */
export const isPathBelow = (path: string): boolean => path.split('/').every(isPlainFileName)

/** The last part of a path or address; the query of an address is not a part of it. */
export function fileNameOf(name: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\//i.test(name) ? name.replace(/[?#].*$/s, '') : name
  return /[^/\\]*$/.exec(path)![0]
}

/** A part of a source; payloads that travel unchanged are ranges. */
export interface ByteRange {
  readonly source: ByteSource
  readonly offset: number
  readonly length: number
}

/** Throws unless [offset, offset + length) lies inside the source. Every source calls this first. */
export function checkRange(
  source: { readonly name: string; readonly size: number },
  offset: number,
  length: number,
): void {
  if (offset >= 0 && length >= 0 && offset + length <= source.size) return
  failWith(ioCodes['out-of-range'], {
    file: source.name,
    offset,
    length,
    message: `bytes ${offset}..${offset + length} were requested, but the file has ${source.size}`,
  })
}

export function checkAborted(signal: AbortSignal | undefined, file: string): void {
  if (signal?.aborted) failWith(ioCodes.aborted, { file, message: 'cancelled' }, { cause: signal.reason })
}

/**
 * The bytes of a range, window by window, reading one window ahead. Every chunk but the last has exactly `window` bytes. A chunk is
 * valid only until the next one is asked for: its memory is used again.
 */
export async function* streamRange(
  range: ByteRange,
  window: number,
  signal?: AbortSignal,
  isLast?: boolean,
): AsyncGenerator<Uint8Array, void, void> {
  const { source, offset, length } = range
  checkRange(source, offset, length)
  if (length === 0) return
  if (!source.readInto || length <= window) {
    for (let done = 0; done < length; done += window) {
      checkAborted(signal, source.name)
      const count = Math.min(window, length - done)
      yield await source.read(offset + done, count, { signal, ahead: length - done - count, isLast })
    }
    return
  }
  const windows = [takeWindow(window), takeWindow(window)] as const
  try {
    yield* readAhead(range, window, signal, async (done) => {
      const target = windows[(done / window) % 2 === 0 ? 0 : 1].subarray(0, Math.min(window, length - done))
      await source.readInto!(offset + done, target, { signal, ahead: length - done - target.byteLength, isLast })
      return target
    })
  } finally {
    for (const each of windows) releaseWindow(each)
  }
}

/**
 * What `fill` gives for each window of a range, in order. It is asked for the next one as soon as the last one is there, while that is being
 * used; when this ends, nothing is being filled any more.
 */
export async function* readAhead(
  { source, length }: ByteRange,
  window: number,
  signal: AbortSignal | undefined,
  fill: (done: number) => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  let next: Promise<Uint8Array> | undefined = fill(0)
  try {
    for (let done = 0; done < length; done += window) {
      checkAborted(signal, source.name)
      const chunk: Uint8Array = await next!
      next = done + window < length ? fill(done + window) : undefined
      next?.catch(() => {}) // a consumer that stops early must not leave an unhandled rejection
      yield chunk
    }
  } finally {
    await next?.catch(() => {}) // it still writes into its window
  }
}

// Wrappers: each adds one thing to a source and passes everything else through.

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
    ...(source.version !== undefined && { version: source.version }),
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

/** The same under another name. */
export const renamedSource = (source: ByteSource, name: string): ByteSource =>
  Object.assign(withHead(source, new Uint8Array(0)), { name })

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
