// A file on an HTTP server as a byte source. The first request fetches 64 KiB, or as much as the caller will need, and the size; later ones
// fetch what is read, in ranges of at most 64 MiB. The version of the file is pinned by its ETag, so that all bytes belong to one version.
import {
  type ByteSource,
  checkAborted,
  checkRange,
  isPathBelow,
  isPlainFileName,
  type OpenHint,
  type ReadOptions,
  type SourceHandle,
} from '../bytes/index.js'
import { failWith, ioCodes } from '../errors/index.js'
import { BlockCache, maxRequest, type RangeStore } from './block-cache.js'
import { type BodyOptions, downloadWhole, readBody } from './body.js'
import { remoteCodes } from './codes.js'
import { RangeStream, type SentRange } from './range-stream.js'
import { nameOf, parseAddress, requestRange, StatusError } from './request.js'
import { withRetries } from './retry.js'

/** How a file on a server is requested. */
export interface HttpOptions extends BodyOptions {
  /** Keeps fetched blocks beyond this process. */
  readonly store?: RangeStore | undefined
  readonly signal?: AbortSignal | undefined
}

const firstRequest = 65_536

/** Identifies a version of the file on the server. */
interface Version {
  readonly size: number
  readonly etag: string | undefined
  readonly modified: string | undefined
}

/** The result of the first request. */
interface Opened {
  readonly version: Version
  /** The target of the last redirect. */
  readonly nearest: URL
  /** The first bytes. */
  readonly head: Uint8Array
  /** The whole file, if the server does not support ranges. */
  readonly whole?: ByteSource
}

/** A file on a server, read by ranges. All bytes belong to one version of it. */
export class HttpSource implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #url: URL
  readonly #options: HttpOptions
  readonly #version: Version
  readonly #head: Uint8Array
  readonly #whole: ByteSource | undefined
  readonly #cache: BlockCache
  /** Asked first, until it refuses. */
  #nearest: URL
  readonly #closing = new AbortController()

  private constructor(url: URL, options: HttpOptions, { version, nearest, head, whole }: Opened) {
    this.name = nameOf(url, options)
    this.size = version.size
    this.#url = url
    this.#options = options
    this.#version = version
    this.#nearest = nearest
    this.#head = head
    this.#whole = whole
    const { etag } = version
    // A weak ETag can stand for different bytes.
    const key = etag === undefined || isWeak(etag) ? undefined : `${nameOf(url, {})} ${etag} ${version.size}`
    const request = (start: number, end: number): RangeStream =>
      new RangeStream(url, (first, last, signal) => this.#ask(first, last, signal), options, start, end)
    this.#cache = new BlockCache(version.size, request, key, options.store)
  }

  /** Asks the server for the beginning of a file, which also tells its size and version. */
  static async open(address: string, options: HttpOptions = {}, hint: OpenHint = {}): Promise<HttpSource> {
    const { url, headers } = parseAddress(address, options.headers)
    const own = { ...options, headers }
    const signal = options.signal ?? new AbortController().signal
    const first = Math.min(Math.max(hint.first ?? 0, firstRequest), maxRequest)
    return withRetries(url, 0, own, signal, async (attempt) => {
      const { response, url: nearest } = await requestRange(url, [0, first - 1], own, {}, attempt)
      try {
        return new HttpSource(url, own, await readFirst(response, url, nearest, first, own, attempt))
      } catch (error) {
        // The body can no longer be cancelled if it was read.
        await response.body?.cancel().catch(() => {})
        throw error
      }
    })
  }

  /** The ETag of all bytes, if the server states one. */
  get etag(): string | undefined {
    return this.#version.etag
  }

  get version(): string | undefined {
    return this.#version.etag ?? this.#version.modified
  }

  /** Other threads can read a download that is in a local file. */
  get handle(): SourceHandle | undefined {
    return this.#whole?.handle
  }

  async read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array> {
    checkRange(this, offset, length)
    const bytes = new Uint8Array(length)
    await this.readInto(offset, bytes, options)
    return bytes
  }

  async readInto(offset: number, target: Uint8Array, options: ReadOptions = {}): Promise<void> {
    checkRange(this, offset, target.byteLength)
    checkAborted(options.signal, this.name)
    if (this.#whole) {
      target.set(await this.#whole.read(offset, target.byteLength, options))
      return
    }
    const known = this.#head.subarray(offset, offset + target.byteLength)
    target.set(known)
    if (known.byteLength === target.byteLength) return
    await this.#cache.readInto({
      offset: offset + known.byteLength,
      target: target.subarray(known.byteLength),
      ahead: Math.min(options.ahead ?? 0, this.size - offset - target.byteLength),
      isLast: options.isLast === true,
      signal: AbortSignal.any([this.#closing.signal, ...(options.signal ? [options.signal] : [])]),
    })
  }

  async sibling(name: string, hint?: OpenHint): Promise<ByteSource> {
    if (!isPlainFileName(name)) failWith(ioCodes['unsafe-path'], { file: name, message: 'not a plain file name' })
    return this.below(name, hint)
  }

  async below(path: string, hint?: OpenHint): Promise<ByteSource> {
    if (!isPathBelow(path)) failWith(ioCodes['unsafe-path'], { file: path, message: 'it leads elsewhere' })
    return HttpSource.open(addressBeside(this.#url, path).href, this.#options, hint)
  }

  async sameOrigin(address: string, hint?: OpenHint): Promise<ByteSource | undefined> {
    if (!URL.canParse(address) || new URL(address).origin !== this.#url.origin) return undefined
    return HttpSource.open(address, this.#options, hint)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#cache.close()
    await this.#whole?.close()
  }

  /** The response is the range or the beginning of it, from the same version of the file. */
  async #ask(first: number, last: number, signal: AbortSignal): Promise<SentRange> {
    const { etag } = this.#version
    const conditions: Record<string, string> = etag === undefined || isWeak(etag) ? {} : { 'If-Match': etag }
    const { response, url } = await this.#find([first, last], conditions, signal)
    this.#nearest = url
    try {
      return { response, end: this.#endOfAnswer(response, first, last) }
    } catch (error) {
      await response.body?.cancel().catch(() => {})
      throw error
    }
  }

  #endOfAnswer(response: Response, first: number, last: number): number {
    const mismatch = (message: string): never =>
      failWith(remoteCodes['range-mismatch'], { file: this.name, offset: first, message })
    if (response.status !== 206) mismatch(`status ${response.status} instead of the range`)
    const range = contentRange(response, this.name, first)
    this.#assertSame(versionOf(response, range.size), first)
    // A server may send less; the rest is requested again.
    if (range.first !== first || range.last > last) {
      mismatch(`bytes ${first}-${last} were requested, ${range.first}-${range.last} came`)
    }
    return range.last + 1
  }

  /** Redirect targets are often signed and expire: if one refuses, the redirect is resolved again. */
  async #find(range: readonly [number, number], conditions: Readonly<Record<string, string>>, signal: AbortSignal) {
    const isShortcut = this.#nearest.href !== this.#url.href
    if (!isShortcut) return requestRange(this.#url, range, this.#options, conditions, signal)
    const settings =
      this.#nearest.origin === this.#url.origin ? this.#options : { ...this.#options, headers: undefined }
    try {
      return await requestRange(this.#nearest, range, settings, conditions, signal)
    } catch (error) {
      if (!(error instanceof StatusError) || error.mayPass) throw error
      this.#nearest = this.#url
      return requestRange(this.#url, range, this.#options, conditions, signal)
    }
  }

  #assertSame(now: Version, offset: number): void {
    const before = this.#version
    // A response without the ETag must at least have the same date.
    const isDated = now.modified !== undefined && now.modified === before.modified
    const isSame =
      now.size === before.size &&
      (now.etag === before.etag
        ? now.etag !== undefined || now.modified === before.modified
        : isDated && (now.etag === undefined || before.etag === undefined))
    if (isSame) return
    const message =
      now.size === before.size
        ? 'its version is another one now'
        : `it had ${before.size} bytes and now has ${now.size}`
    failWith(remoteCodes.changed, { file: this.name, offset, message })
  }
}

/** The address of another file, by its path from where a file lies. */
export function addressBeside(url: URL, path: string): URL {
  const other = new URL(path.split('/').map(encodeURIComponent).join('/'), url)
  // A shared access signature of Azure can be for a container, a directory or an account, and then holds for what lies beside the file.
  const { searchParams: query } = url
  const isForAll = query.has('sig') && (/^[cd]$/.test(query.get('sr') ?? '') || query.has('ss'))
  if (isForAll) other.search = url.search
  return other
}

async function readFirst(
  response: Response,
  url: URL,
  nearest: URL,
  asked: number,
  options: HttpOptions,
  signal: AbortSignal,
): Promise<Opened> {
  if (response.status === 206) {
    const file = nameOf(url, options)
    const { size, first, last } = contentRange(response, file, 0)
    if (first !== 0 || last >= asked) {
      const message = `bytes 0-${asked - 1} were requested, ${first}-${last} came`
      failWith(remoteCodes['range-mismatch'], { file, offset: 0, message })
    }
    const head = await readBody(response, url, 0, last + 1, options, signal)
    return { version: versionOf(response, size), nearest, head }
  }
  if (response.status === 416) {
    await response.body?.cancel().catch(() => {})
    assertEmpty(response, nameOf(url, options))
    return { version: versionOf(response, 0), nearest, head: new Uint8Array() }
  }
  const whole = await downloadWhole(response, url, options, signal)
  return { version: versionOf(response, whole.size), nearest, head: new Uint8Array(), whole }
}

const isWeak = (etag: string): boolean => etag.startsWith('W/')

/** Only an empty file has no first byte; some servers do not state its length. */
function assertEmpty(response: Response, file: string): void {
  const size = /^bytes \*\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1]
  if (size === undefined || Number(size) === 0) return
  const message = `the server has no bytes from 0 on, but says that there are ${size}`
  failWith(remoteCodes['range-mismatch'], { file, offset: 0, message })
}

const versionOf = (response: Response, size: number): Version => ({
  size,
  etag: response.headers.get('etag') ?? undefined,
  modified: response.headers.get('last-modified') ?? undefined,
})

function contentRange(response: Response, file: string, offset: number): { first: number; last: number; size: number } {
  const header = response.headers.get('content-range')
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(header ?? '')
  const [first, last, size] = match ? match.slice(1).map(Number) : []
  if (
    first === undefined ||
    last === undefined ||
    size === undefined ||
    first > last ||
    last >= size ||
    !Number.isSafeInteger(size)
  ) {
    const message =
      header === null
        ? 'the answer does not say which part it is'
        : `Content-Range ${JSON.stringify(header)} makes no sense`
    return failWith(remoteCodes['range-mismatch'], { file, offset, message })
  }
  return { first, last, size }
}
