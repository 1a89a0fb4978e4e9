// A real HTTP server on loopback that serves files from memory and misbehaves on request.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach } from 'vitest'

export interface Misbehaviour {
  /** Ignores Range. */
  noRanges?: boolean
  /** Says a wrong Content-Range. */
  lieAboutRange?: 'shift' | 'garbage' | 'size' | 'endless'
  /** Cuts the connection after this many bytes of the body, for the first `times` requests. */
  cut?: { after: number; times: number }
  /** Answers with this status for the first `times` requests. */
  fail?: { status: number; times: number; retryAfter?: string }
  /** Takes the first so many requests and never answers. */
  mute?: number
  /** Another ETag than `"v1"`, for example a weak one. */
  etag?: string
  /** Says no ETag after this many requests. */
  forgetAfter?: number
  /** Says this of the range of an answer without one. */
  unsatisfied?: string
  /** Compresses the whole file, where ranges are ignored. */
  gzip?: boolean
  /** A new ETag with every request. */
  restless?: boolean
  /** The ETag changes after this many requests. */
  changeAfter?: number
  /** Sends more bytes than the range. */
  overflow?: boolean
  /** Sends fewer bytes than the range, and says so only in Content-Length. */
  short?: number
  /** Sends no longer ranges than this. */
  most?: number
  /** Sends the body in pieces of this many bytes, with a pause before each. */
  slow?: number
  /** Compresses although it was asked not to. */
  encoding?: string
  /** Never finishes the body. */
  stall?: boolean
  /** Redirects here. */
  redirect?: string
}

export interface Seen {
  readonly method: string
  readonly url: string
  readonly range: string | undefined
  readonly authorization: string | undefined
}

export interface TestServer {
  readonly files: Map<string, Uint8Array>
  readonly seen: Seen[]
  behave: Misbehaviour
  url(name: string): string
}

export function useServer(): TestServer {
  let server: Server
  const state: TestServer = {
    files: new Map(),
    seen: [],
    behave: {},
    url: (name) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`,
  }
  beforeEach(async () => {
    state.files.clear()
    state.seen.length = 0
    state.behave = {}
    server = createServer((request, response) => answer(state, request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return state
}

function answer({ files, seen, behave }: TestServer, request: IncomingMessage, response: ServerResponse): unknown {
  const { range, authorization } = request.headers
  seen.push({ method: request.method!, url: request.url!, range, authorization })
  const bytes = files.get(decodeURIComponent(request.url!.slice(1)))
  const refuse = (status: number, headers: Record<string, string> = {}): unknown => {
    return response.writeHead(status, headers).end()
  }
  if (behave.mute && behave.mute-- > 0) return undefined
  if (behave.fail && behave.fail.times-- > 0) {
    const { status, retryAfter } = behave.fail
    return refuse(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter })
  }
  if (behave.unsatisfied) return refuse(416, { 'content-range': behave.unsatisfied })
  if (behave.redirect) return refuse(302, { location: behave.redirect })
  if (!bytes) return refuse(404)
  const etag =
    behave.etag ??
    `"${behave.restless || (behave.changeAfter !== undefined && seen.length > behave.changeAfter) ? seen.length : 'v1'}"`
  const asked = /^bytes=(\d+)-(\d+)$/.exec(range ?? '')
  if (request.headers['if-match'] && request.headers['if-match'] !== etag) return refuse(412)
  if (behave.gzip) return send(response, 200, { etag, 'content-encoding': 'gzip' }, gzipSync(bytes), behave)
  if (!asked || behave.noRanges) return send(response, 200, { etag }, bytes, behave)
  const first = Number(asked[1])
  const last = Math.min(Number(asked[2]), bytes.byteLength - 1, first + (behave.most ?? bytes.byteLength) - 1)
  if (first >= bytes.byteLength) return refuse(416, { 'content-range': `bytes */${bytes.byteLength}` })
  const length = Math.min(last + 1 - first + (behave.overflow ? 10 : 0), behave.short ?? Number.POSITIVE_INFINITY)
  const body = bytes.subarray(first, first + length)
  const size = behave.lieAboutRange === 'size' ? bytes.byteLength + seen.length : bytes.byteLength
  const endless = `bytes ${first}-${2 ** 45}/${2 ** 46}`
  const told =
    behave.lieAboutRange === 'endless'
      ? endless
      : behave.lieAboutRange === 'shift'
        ? `bytes ${first + 1}-${last + 1}/${size}`
        : `bytes ${first}-${last}/${size}`
  return send(
    response,
    206,
    {
      ...(behave.forgetAfter === undefined || seen.length <= behave.forgetAfter ? { etag } : {}),
      'content-range': behave.lieAboutRange === 'garbage' ? 'bytes x' : told,
      ...(behave.encoding && { 'content-encoding': behave.encoding }),
    },
    body,
    behave,
  )
}

function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: Uint8Array,
  behave: Misbehaviour,
): unknown {
  response.writeHead(status, { ...headers, 'content-length': String(body.byteLength) })
  if (behave.stall) return response.write(body.subarray(0, 1))
  if (behave.slow !== undefined) return drip(response, body, behave.slow)
  if (behave.cut && behave.cut.times-- > 0) {
    return response.write(body.subarray(0, behave.cut.after), () => response.destroy())
  }
  return response.end(body)
}

async function drip(response: ServerResponse, body: Uint8Array, size: number): Promise<void> {
  for (let at = 0; at < body.byteLength; at += size) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    response.write(body.subarray(at, at + size))
  }
  response.end()
}
