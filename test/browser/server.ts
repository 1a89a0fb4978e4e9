// Servers on loopback. Two of them differ in their headers: with both of them a page is isolated from other origins and may share memory
// between its threads. Each is also "another origin" for the pages of the other.
import { readFileSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize, sep } from 'node:path'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly range: string | undefined
  readonly ifMatch: string | undefined
  readonly token: string | undefined
}

export interface PageServer {
  readonly origin: string
  /** Requests for models, in order. */
  readonly asked: Asked[]
  close(): Promise<void>
}

/** Folders by the first part of the path. */
export type Roots = Readonly<Record<string, string>>

const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
}

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript',
  '.html': 'text/html',
  '.wasm': 'application/wasm',
}

/** Scripts of its own, and no WebAssembly. */
const strictPolicy = "default-src 'self'; script-src 'self'"

export async function serve(roots: Roots, isIsolated: boolean): Promise<PageServer> {
  const asked: Asked[] = []
  const server = createServer((request, response) => {
    const path = new URL(request.url!, 'http://localhost').pathname
    if (isIsolated) for (const [name, value] of Object.entries(isolation)) response.setHeader(name, value)
    if (path === '/' || path === '/strict') sendPage(response, path === '/strict')
    else answer(roots, asked, request, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close: () => closeServer(server),
  }
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
}

function sendPage(response: ServerResponse, isStrict: boolean): void {
  if (isStrict) response.setHeader('content-security-policy', strictPolicy)
  response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>tare</title>')
}

/** Files have ranges; with `?as=whole` none, with `?as=shared` other origins may have them too, with `?to=…` they are elsewhere. */
function answer(roots: Roots, asked: Asked[], request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url!, 'http://localhost')
  const [, first = '', ...rest] = decodeURIComponent(url.pathname).split('/')
  const folder = roots[first]
  const path = folder && normalize(join(folder, ...rest))
  const { range, 'if-match': ifMatch, 'x-token': token } = request.headers
  if (!url.pathname.endsWith('.js'))
    asked.push({
      method: request.method!,
      path: url.pathname,
      range,
      ifMatch: ifMatch as string,
      token: token as string,
    })
  const [as, to] = [url.searchParams.get('as'), url.searchParams.get('to')]
  if (as === 'shared') {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-expose-headers', 'content-range, etag')
    response.setHeader('cross-origin-resource-policy', 'cross-origin')
  }
  if (request.method !== 'GET') response.writeHead(405).end()
  else if (to !== null) response.writeHead(302, { location: to }).end()
  else if (!path?.startsWith(folder + sep) || !statSync(path, { throwIfNoEntry: false })?.isFile())
    response.writeHead(404).end()
  else sendFile(response, path, as === 'whole' ? undefined : range)
}

function sendFile(response: ServerResponse, path: string, range: string | undefined): void {
  const bytes = readFileSync(path)
  const headers = {
    'content-type': types[extname(path)] ?? 'application/octet-stream',
    etag: `"${bytes.byteLength}"`,
    'cache-control': 'no-store',
  }
  const wanted = /^bytes=(\d+)-(\d+)$/
    .exec(range ?? '')
    ?.slice(1)
    .map(Number)
  if (!wanted) {
    response.writeHead(200, headers).end(bytes)
    return
  }
  const [first, last] = [wanted[0]!, Math.min(wanted[1]!, bytes.byteLength - 1)]
  if (first >= bytes.byteLength) response.writeHead(416, headers).end()
  else {
    const place = `bytes ${first}-${last}/${bytes.byteLength}`
    response.writeHead(206, { ...headers, 'content-range': place }).end(bytes.subarray(first, last + 1))
  }
}
