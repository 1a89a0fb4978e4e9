// A stand-in for the hub on loopback: its API, its redirects to a store of another origin, and who may read what.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach } from 'vitest'

interface Request {
  readonly on: 'hub' | 'store'
  readonly url: string
  readonly authorization: string | undefined
}

export type HubFault = 'reset' | '500' | 'slow-down' | 'expired' | 'short-body' | 'wrong-range' | 'changed-etag'

export interface HubServer {
  /** What happens to a request, by its number. */
  fault: (index: number) => HubFault | undefined
  /** By `kind/owner/name`. */
  readonly repositories: Map<
    string,
    { commit: string; token?: string; files: Map<string, Uint8Array>; movedTo?: string }
  >
  readonly seen: Request[]
  readonly endpoint: string
  /** What the API says instead of what it should. */
  answer: string | undefined
  /** Where large files are redirected to, if not to the store. */
  redirect: string | undefined
  /** Large files can be had in chunks, too; what is wrong with that, if something is. */
  xet: 'right' | 'damaged' | 'cut' | 'stolen' | undefined
}

export const commits = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string]

export function useHub(): HubServer {
  let servers: Server[] = []
  const origin = (index: number): string => `http://127.0.0.1:${(servers[index]!.address() as AddressInfo).port}`
  const hub: HubServer = {
    fault: () => undefined,
    repositories: new Map(),
    seen: [],
    answer: undefined,
    redirect: undefined,
    xet: undefined,
    get endpoint() {
      return origin(0)
    },
  }
  beforeEach(async () => {
    hub.repositories.clear()
    hub.seen.length = 0
    Object.assign(hub, { answer: undefined, redirect: undefined, xet: undefined, fault: () => undefined })
    servers = (['hub', 'store'] as const).map((on) =>
      createServer((request, response) => {
        const fault = hub.fault(hub.seen.length)
        hub.seen.push({ on, url: request.url!, authorization: request.headers.authorization })
        if (failed(fault, response)) return
        if (on === 'hub') answerHub(hub, origin(1), request, response)
        else answerStore(hub, origin(1), request, response)
      }),
    )
    for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    for (const server of servers) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
  return hub
}

/** Whether that is all of the answer; what is wrong with a range is left to the answer. */
function failed(fault: HubFault | undefined, response: ServerResponse): boolean {
  const statuses: Partial<Record<HubFault, number>> = { '500': 500, 'slow-down': 503, expired: 403 }
  const status = fault && statuses[fault]
  if (fault === 'reset') response.destroy()
  else if (status) response.writeHead(status, { 'retry-after': '0' }).end()
  else if (fault) response.setHeader('x-fault', fault)
  return fault === 'reset' || status !== undefined
}

function answerHub(hub: HubServer, store: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url!, hub.endpoint)
  const api = /^\/api\/((?:models|datasets)\/[^/]+\/[^/]+)\/revision\/([^/]+)$/.exec(pathname)
  const file = /^\/(datasets\/)?([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(pathname)
  const auth = /^\/api\/xet-read-token\/([^/]+)\//.exec(pathname)
  const name = auth ? decodeURIComponent(auth[1]!) : (api?.[1] ?? (file ? `${file[1] ?? 'models/'}${file[2]}` : ''))
  const repository = hub.repositories.get(name)
  const refuse = (status: number, headers = {}): unknown => response.writeHead(status, headers).end()
  if (!repository) return void refuse(401)
  if (repository.movedTo && api) return void refuse(307, { location: pathname.replace(api[1]!, repository.movedTo) })
  if (repository.token !== undefined && request.headers.authorization !== `Bearer ${repository.token}`)
    return void refuse(401)
  if (auth) {
    const exp = Math.floor(Date.now() / 1000) + 3600
    return void response.end(JSON.stringify({ accessToken: xetToken, casUrl: store, exp }))
  }
  if (api) {
    const revision = decodeURIComponent(api[2]!)
    if (!['main', 'refs/pr/1', repository.commit].includes(revision)) return void refuse(404)
    const siblings = [...repository.files].map(([rfilename, bytes]) => ({
      rfilename,
      size: bytes.byteLength,
      ...(bytes.byteLength >= 1000 && { lfs: { sha256: createHash('sha256').update(bytes).digest('hex') } }),
    }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(hub.answer ?? JSON.stringify({ id: name.replace(/^\w+\//, ''), sha: repository.commit, siblings }))
    return
  }
  const path = decodeURIComponent(file![4]!)
  if (hub.xet && request.headers.accept?.includes('xet-fileinfo'))
    return void offerChunks(hub, store, name, path, response)
  const bytes = repository.files.get(path)
  if (!bytes || file![3] !== repository.commit) return void refuse(404)
  // Small files come from the hub itself, large ones from a store of another origin.
  if (bytes.byteLength < 1000) sendRange(bytes, request, response)
  else
    refuse(302, {
      location: hub.redirect ?? `${store}/${name}?path=${encodeURIComponent(path)}&X-Amz-Signature=5ECRET`,
    })
}

function answerStore(hub: HubServer, store: string, request: IncomingMessage, response: ServerResponse): void {
  const chunks = hub.xet && answerChunks(hub, store, request)
  if (chunks) return void response.writeHead(request.headers.range ? 206 : 200).end(chunks)
  const { pathname, searchParams } = new URL(request.url!, 'http://store')
  const bytes = hub.repositories.get(pathname.slice(1))?.files.get(searchParams.get('path') ?? '')
  if (bytes) sendRange(bytes, request, response)
  else response.writeHead(404).end()
}

function sendRange(bytes: Uint8Array, request: IncomingMessage, response: ServerResponse): void {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')!.map(Number)
  if (first! >= bytes.byteLength)
    return void response.writeHead(416, { 'content-range': `bytes */${bytes.byteLength}` }).end()
  const end = Math.min(last! + 1, bytes.byteLength)
  const fault = response.getHeader('x-fault')
  const shift = fault === 'wrong-range' ? 1 : 0
  response.writeHead(206, {
    etag: `"${bytes.byteLength}${fault === 'changed-etag' ? ' new' : ''}"`,
    'content-range': `bytes ${first! + shift}-${end - 1 + shift}/${bytes.byteLength + shift}`,
    'content-length': String(end - first!),
  })
  if (fault === 'short-body') response.write(bytes.subarray(first!, (first! + end) >> 1), () => response.destroy())
  else response.end(bytes.subarray(first!, end))
}

/** Where the chunks of a file are, and who says so. */
function offerChunks(hub: HubServer, store: string, name: string, path: string, response: ServerResponse): void {
  const place = `${encodeURIComponent(name)}/${encodeURIComponent(path)}`
  const auth = `${hub.xet === 'stolen' ? store : hub.endpoint}/api/xet-read-token/${place}`
  response.writeHead(200, {
    'content-type': 'application/vnd.xet-fileinfo+json',
    etag: '"xet"',
    'x-linked-size': String(hub.repositories.get(name)!.files.get(path)!.byteLength),
    'x-xet-hash': 'f'.repeat(64),
    link: `<${auth}>; rel="xet-auth", <${store}/v1/reconstructions/${place}>; rel="xet-reconstruction-info"`,
  })
  response.end('{}')
}

const xetToken = 'xet_T0KEN'

/** What the storage of chunks answers: where they are, and the chunks. Undefined for every other request. */
function answerChunks(hub: HubServer, store: string, request: IncomingMessage): Buffer | undefined {
  const { pathname } = new URL(request.url!, 'http://store')
  const [, kind, name = '', path = ''] = /^\/(v2\/reconstructions|xorbs)\/([^/]+)\/(.+)$/.exec(pathname) ?? []
  const bytes = hub.repositories.get(decodeURIComponent(name))?.files.get(decodeURIComponent(path))
  if (kind === undefined || !bytes) return undefined
  const count = Math.ceil(bytes.byteLength / chunkSize)
  if (kind === 'xorbs') return chunksOf(hub, bytes)
  if (request.headers.authorization !== `Bearer ${xetToken}`) return undefined
  const first = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0)
  const range = { start: 0, end: count }
  const size = bytes.byteLength + 8 * count
  const url = `${store}/xorbs/${name}/${path}`
  return Buffer.from(
    JSON.stringify({
      terms: [{ hash: 'e'.repeat(64), unpacked_length: bytes.byteLength, range }],
      xorbs: { ['e'.repeat(64)]: [{ url, ranges: [{ chunks: range, bytes: { start: 0, end: size - 1 } }] }] },
      offset_into_first_range: first,
    }),
  )
}

const chunkSize = 1 << 16

/** Each chunk has a header: version, stored length, no compression, length. */
function chunksOf(hub: HubServer, bytes: Uint8Array): Buffer {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.byteLength; at += chunkSize) {
    const chunk = bytes.slice(at, at + chunkSize)
    if (hub.xet === 'damaged' && at === 0) chunk[7]! ^= 1
    const header = new Uint8Array(8)
    new DataView(header.buffer).setUint32(1, chunk.byteLength, true)
    header[4] = 0
    header.set(
      [0, 1, 2].map((i) => (chunk.byteLength >> (8 * i)) & 255),
      5,
    )
    pieces.push(header, chunk)
  }
  const all = Buffer.concat(pieces)
  return hub.xet === 'cut' ? all.subarray(0, all.byteLength / 2) : all
}
