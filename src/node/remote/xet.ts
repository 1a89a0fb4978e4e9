// Large files of the hub from the storage behind it, where `@huggingface/hub` is installed: it fetches the chunks that a file consists of,
// several at once. Only whole files are read that way, and compared with the digest that the hub states; single ranges come with fewer
// requests from where the hub redirects to. Whatever goes wrong, the rest is read from there, too.
import type { ByteSource, ReadOptions } from '../../bytes/index.js'
import { nextChunk } from '../../remote/body.js'
import type { HttpOptions } from '../../remote/http-source.js'
import type { HubAddress } from '../../remote/hub/address.js'
import { Pace } from '../../remote/pace.js'
import { BrokenConnection } from '../../remote/retry.js'

/** Below that, what is asked before the first chunk takes longer than what is saved. */
const minSize = 16 << 20
const maxRedirects = 5
const parallelDownloads = { maxConcurrency: 4, maxInFlightBytes: 64 << 20 }

interface DownloadInfo {
  readonly size: number
  readonly xet?: { readonly refreshUrl: URL }
}

/** As much of the package as is needed. */
interface HubPackage {
  fileDownloadInfo(request: object): Promise<DownloadInfo | null>
  downloadFile(request: object): Promise<Blob | null>
}

export interface XetFile {
  readonly place: Omit<HubAddress, 'path'>
  readonly path: string
  readonly hub: string
  readonly token: string | undefined
  readonly requests: Pick<HttpOptions, 'checkAddress' | 'fetch'>
}

/** The same file, read through the package where it can be. */
export async function throughXet(plain: ByteSource, file: XetFile): Promise<ByteSource> {
  const blob = plain.size < minSize ? undefined : await openBlob(plain.size, file).catch(() => undefined)
  return blob ? streamed(plain, blob) : plain
}

async function openBlob(size: number, { place, path, hub, token, requests }: XetFile): Promise<Blob | undefined> {
  const name: string = '@huggingface/hub'
  const { fileDownloadInfo, downloadFile } = (await import(name)) as HubPackage
  const request = {
    repo: { type: place.kind === 'datasets' ? 'dataset' : 'model', name: place.repository },
    revision: place.revision,
    path: path.split('/').map(encodeURIComponent).join('/'),
    hubUrl: hub,
    fetch: fetchFor(hub, requests),
    // The package takes no other tokens than those of users.
    ...(token?.startsWith('hf_') && { accessToken: token }),
  }
  const info = await fileDownloadInfo(request)
  // The token is sent to the address that gives out those of the storage, so that has to be the hub.
  if (!info?.xet || info.size !== size || info.xet.refreshUrl.origin !== new URL(hub).origin) return undefined
  return (await downloadFile({ ...request, downloadInfo: info, parallelDownloads })) ?? undefined
}

/** Each address on the way is checked, and what is for the hub goes nowhere else. */
function fetchFor(hub: string, { checkAddress, fetch: send = fetch }: XetFile['requests']): typeof fetch {
  return async (input, init = {}) => {
    let url = new URL(input instanceof Request ? input.url : String(input))
    const headers = new Headers(init.headers)
    for (let hops = 0; hops <= maxRedirects; hops++) {
      await checkAddress?.(url)
      const response = await send(url, { ...init, headers, redirect: 'manual' })
      const location = response.headers.get('location')
      if (response.status < 300 || response.status >= 400 || location === null) return response
      await response.body?.cancel()
      const next = new URL(location, url)
      if (url.protocol === 'https:' && next.protocol !== 'https:') break
      if (next.origin !== url.origin) headers.delete('authorization')
      url = next
    }
    throw new Error(`${hub} redirects without an end, or to an address that is not safe`)
  }
}

/** Reads that follow one another are one stream. */
function streamed(plain: ByteSource, blob: Blob): ByteSource {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  let rest: Uint8Array = new Uint8Array()
  let position = 0
  let isGiven = true
  const pace = new Pace(plain.name, {})

  async function begin(offset: number): Promise<void> {
    await reader?.cancel().catch(() => {})
    reader = blob.slice(offset).stream().getReader() as ReadableStreamDefaultReader<Uint8Array>
    rest = new Uint8Array()
    position = offset
  }

  async function fill(offset: number, target: Uint8Array): Promise<void> {
    if (!reader || position !== offset) await begin(offset)
    for (let done = 0; done < target.byteLength; ) {
      if (rest.byteLength === 0) rest = (await nextChunk(reader!, {}, pace, new AbortController().signal)) ?? fail()
      const part = rest.subarray(0, target.byteLength - done)
      target.set(part, done)
      done += part.byteLength
      position += part.byteLength
      rest = rest.subarray(part.byteLength)
    }
  }

  async function readInto(offset: number, target: Uint8Array, options?: ReadOptions): Promise<void> {
    if (isGiven) {
      try {
        await fill(offset, target)
        return
      } catch {
        options?.signal?.throwIfAborted()
        isGiven = false
        await reader?.cancel().catch(() => {})
      }
    }
    target.set(await plain.read(offset, target.byteLength, options))
  }

  return {
    name: plain.name,
    size: plain.size,
    ...(plain.version !== undefined && { version: plain.version }),
    async read(offset, length, options) {
      const bytes = new Uint8Array(length)
      await readInto(offset, bytes, options)
      return bytes
    },
    readInto,
    async close() {
      await reader?.cancel().catch(() => {})
      await plain.close()
    },
  }
}

function fail(): never {
  throw new BrokenConnection('the storage sent fewer bytes than the file has')
}
