// A file on an HTTP server as a byte source. The first request brings 64 KiB and the size; later ones bring what is asked for, in
// ranges of at most 64 MiB. The version of the file is pinned by its ETag, so that all bytes belong to one state of it.
import {
  type ByteSource,
  checkAborted,
  checkRange,
  isPathBelow,
  isPlainFileName,
  type ReadOptions,
} from '../bytes/index.js'
import { failWith, ioCodes } from '../errors/index.js'
import { BlockCache, type RangeStore } from './block-cache.js'
import { type BodyOptions, downloadWhole, pour, readBody } from './body.js'
import { remoteCodes } from './codes.js'
import { requestRange, StatusError } from './request.js'
import { BrokenConnection, withRetries } from './retry.js'

export interface HttpOptions extends BodyOptions {
  /** Keeps what was fetched beyond this process. */
  readonly store?: RangeStore | undefined
  readonly signal?: AbortSignal | undefined
}

export const firstRequest = 65_536
export const largestRequest = 64 * 2 ** 20

/** What identifies a state of the file on the server. */
interface Version {
  readonly size: number
  readonly etag: string | undefined
  readonly modified: string | undefined
}

export class HttpSource implements ByteSource {
  readonly name: string
  readonly size: number
  readonly #url: URL
  readonly #options: HttpOptions
  readonly #version: Version
  readonly #cache: BlockCache
  /** The whole file, from a server that cannot send ranges. */
  readonly #whole: Uint8Array | undefined
  /** Where the last redirect led; asked first, until it says no. */
  #nearest: URL
  readonly #closing = new AbortController()

  private constructor(
    url: URL,
    options: HttpOptions,
    version: Version,
    nearest: URL,
    whole: Uint8Array | undefined,
    head: Uint8Array,
  ) {
    this.name = url.href
    this.size = version.size
    this.#url = url
    this.#options = options
    this.#version = version
    this.#nearest = nearest
    this.#whole = whole
    const key = version.etag === undefined ? undefined : `${url.href} ${version.etag} ${version.size}`
    this.#cache = new BlockCache(
      version.size,
      (offset, target, signal) => this.#fetchInto(offset, target, signal),
      head,
      key,
      options.store,
    )
  }

  static async open(address: string, options: HttpOptions = {}): Promise<HttpSource> {
    const url = parseAddress(address)
    const signal = options.signal ?? new AbortController().signal
    return withRetries(url, 0, options, signal, async (attempt) => {
      const { response, url: nearest } = await requestRange(url, [0, firstRequest - 1], options, {}, attempt)
      if (response.status === 206) {
        const { size, first, last } = contentRange(response, url, 0)
        const head = await readBody(response, url, 0, last - first + 1, options, attempt)
        return new HttpSource(url, options, versionOf(response, size), nearest, undefined, head)
      }
      if (response.status === 416) {
        await response.body?.cancel().catch(() => {})
        return new HttpSource(url, options, versionOf(response, 0), nearest, new Uint8Array(), new Uint8Array())
      }
      const whole = await downloadWhole(response, url, options, attempt)
      return new HttpSource(
        url,
        options,
        versionOf(response, whole.byteLength),
        nearest,
        whole,
        whole.subarray(0, firstRequest),
      )
    })
  }

  async read(offset: number, length: number, options?: ReadOptions): Promise<Uint8Array> {
    const bytes = new Uint8Array(length)
    await this.readInto(offset, bytes, options)
    return bytes
  }

  async readInto(offset: number, target: Uint8Array, options?: ReadOptions): Promise<void> {
    checkRange(this, offset, target.byteLength)
    checkAborted(options?.signal, this.name)
    if (this.#whole) target.set(this.#whole.subarray(offset, offset + target.byteLength))
    else await this.#cache.readInto(offset, target, options?.signal)
  }

  async sibling(name: string): Promise<ByteSource> {
    if (!isPlainFileName(name)) failWith(ioCodes['unsafe-path'], { file: name, message: 'not a plain file name' })
    return this.below(name)
  }

  async below(path: string): Promise<ByteSource> {
    if (!isPathBelow(path)) failWith(ioCodes['unsafe-path'], { file: path, message: 'it leads elsewhere' })
    const url = new URL(path.split('/').map(encodeURIComponent).join('/'), this.#url)
    return HttpSource.open(url.href, this.#options)
  }

  async close(): Promise<void> {
    this.#closing.abort()
  }

  /** Fills the target from the server, split into requests of a size that servers and proxies take. */
  async #fetchInto(offset: number, target: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    for (let done = 0; done < target.byteLength; done += largestRequest) {
      const part = target.subarray(done, Math.min(done + largestRequest, target.byteLength))
      await this.#fetchPart(offset + done, part, signal)
    }
  }

  async #fetchPart(offset: number, target: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
    const stop = AbortSignal.any([this.#closing.signal, ...(signal ? [signal] : [])])
    let done = 0
    await withRetries(this.#url, offset, this.#options, stop, async (attempt) => {
      // What came before the connection broke is kept; the next try asks for the rest.
      const first = offset + done
      const { etag } = this.#version
      const conditions: Record<string, string> = etag === undefined || etag.startsWith('W/') ? {} : { 'If-Match': etag }
      const { response, url } = await this.#ask([first, offset + target.byteLength - 1], conditions, attempt)
      this.#nearest = url
      if (response.status !== 206) {
        await response.body?.cancel().catch(() => {})
        failWith(remoteCodes['range-mismatch'], {
          file: this.name,
          offset: first,
          message: `status ${response.status} instead of the range`,
        })
      }
      const range = contentRange(response, this.#url, first)
      this.#assertSame(versionOf(response, range.size), first)
      if (range.first !== first || range.last > offset + target.byteLength - 1) {
        await response.body?.cancel().catch(() => {})
        const message = `bytes ${first}-${offset + target.byteLength - 1} were asked for, ${range.first}-${range.last} came`
        failWith(remoteCodes['range-mismatch'], { file: this.name, offset: first, message })
      }
      await pour(response, this.#options, attempt, (chunk) => {
        if (done + chunk.byteLength > target.byteLength) {
          failWith(remoteCodes['range-mismatch'], {
            file: this.name,
            offset: offset + done,
            message: 'more bytes came than were asked for',
          })
        }
        target.set(chunk, done)
        done += chunk.byteLength
      })
      if (done < target.byteLength)
        throw new BrokenConnection(`the connection ended ${target.byteLength - done} bytes early`)
    })
  }

  /** Redirect targets are often signed and expire: when one says no, the way is found anew. */
  async #ask(range: readonly [number, number], conditions: Readonly<Record<string, string>>, signal: AbortSignal) {
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
    const isSame =
      now.size === before.size &&
      (now.etag === undefined || before.etag === undefined
        ? now.modified === before.modified || now.etag === before.etag
        : now.etag === before.etag)
    if (isSame) return
    const message =
      now.size === before.size
        ? 'its version is another one now'
        : `it had ${before.size} bytes and now has ${now.size}`
    failWith(remoteCodes.changed, { file: this.name, offset, message })
  }
}

export function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    return failWith(remoteCodes['bad-address'], { file: address, message: 'an http or https address is wanted' })
  }
  return url
}

const versionOf = (response: Response, size: number): Version => ({
  size,
  etag: response.headers.get('etag') ?? undefined,
  modified: response.headers.get('last-modified') ?? undefined,
})

function contentRange(response: Response, url: URL, offset: number): { first: number; last: number; size: number } {
  const header = response.headers.get('content-range')
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? '')
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
    return failWith(remoteCodes['range-mismatch'], { file: url.href, offset, message })
  }
  return { first, last, size }
}
