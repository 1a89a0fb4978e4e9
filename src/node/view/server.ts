// The server behind `tare view`: the page and the files of the named models, on the loopback address, for those who know the token.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { streamRange } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import { admit } from './gate.js'
import { commonHeaders, plainBytes, scriptHeaders } from './headers.js'
import { listPage, type PageFile } from './page-folder.js'
import { wantedRange } from './range.js'
import type { ServedFile, ServedModels } from './served-models.js'

export interface ViewOptions {
  /** The folder of the built page. */
  readonly page: string
  readonly models: ServedModels
  /** Default: one that is free. */
  readonly port?: number | undefined
}

export interface ViewServer {
  /** With the token. */
  readonly address: string
  readonly port: number
  /** Ends all connections. */
  close(): Promise<void>
}

/** What is read at once and waits for the reader. */
const windowBytes = 1 << 20

export async function serveView({ page, models, port = 0 }: ViewOptions): Promise<ViewServer> {
  const token = randomBytes(24).toString('base64url')
  const files = listPage(page)
  const server = createServer((request, response) => {
    const known = (server.address() as AddressInfo | null)?.port ?? 0
    answer(request, response, { token, port: known, files, models }).catch((error) => fail(response, error))
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(port, '127.0.0.1', listening)
  })
  const bound = (server.address() as AddressInfo).port
  return { address: `http://127.0.0.1:${bound}/${token}/`, port: bound, close: () => closeServer(server) }
}

interface Site {
  readonly token: string
  readonly port: number
  readonly files: ReadonlyMap<string, PageFile>
  readonly models: ServedModels
}

async function answer(request: IncomingMessage, response: ServerResponse, site: Site): Promise<void> {
  const admission = admit(request, site.token, site.port)
  if ('refused' in admission) return refuse(response, admission.refused)
  const { path } = admission
  // Relative addresses of the page need the slash behind the token.
  if (path.length === 0) return redirect(response, `/${site.token}/`)
  if (path[0] === 'files') return answerFile(request, response, site.models, path)
  const name = path.join('/')
  if (name === 'files.json') {
    const list = JSON.stringify(await site.models.list())
    return send(request, response, 'application/json', Buffer.from(list))
  }
  const file = site.files.get(name === '' ? 'index.html' : name)
  if (!file) return refuse(response, 404)
  send(request, response, file.type, file.read(), name.endsWith('.js') ? scriptHeaders : {})
}

async function answerFile(
  request: IncomingMessage,
  response: ServerResponse,
  models: ServedModels,
  [, group = '', ...path]: readonly string[],
): Promise<void> {
  const file = await models.find(group, path.join('/'))
  if (!file) return refuse(response, 404)
  const etag = `"${file.version}"`
  const { 'if-match': match, 'if-range': ifRange, range } = request.headers
  if (match !== undefined && match !== '*' && !match.split(',').some((each) => each.trim() === etag))
    return refuse(response, 412)
  const { size } = file.source
  const wanted = wantedRange(ifRange === undefined || ifRange === etag ? range : undefined, size)
  response.setHeader('ETag', etag)
  response.setHeader('Accept-Ranges', 'bytes')
  response.setHeader('Content-Type', plainBytes)
  if (wanted === 'beyond') {
    response.setHeader('Content-Range', `bytes */${size}`)
    return refuse(response, 416)
  }
  const { start, end } = wanted === 'whole' ? { start: 0, end: size } : wanted
  const place = wanted === 'whole' ? {} : { 'Content-Range': `bytes ${start}-${end - 1}/${size}` }
  response.writeHead(wanted === 'whole' ? 200 : 206, { ...commonHeaders, ...place, 'Content-Length': end - start })
  if (request.method === 'HEAD') response.end()
  else await sendBytes(response, file, start, end)
}

/** Reads only as fast as the browser takes it, and stops when that has seen enough. */
async function sendBytes(response: ServerResponse, { source }: ServedFile, start: number, end: number): Promise<void> {
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  // The memory of a chunk is used again, so it must have been sent.
  for await (const chunk of streamRange({ source, offset: start, length: end - start }, windowBytes, gone.signal))
    await new Promise<void>((sent, failed) => response.write(chunk, (error) => (error ? failed(error) : sent())))
  response.end()
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  type: string,
  body: Buffer,
  more: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(200, { ...commonHeaders, ...more, 'Content-Type': type, 'Content-Length': body.byteLength })
  response.end(request.method === 'HEAD' ? undefined : body)
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(308, { ...commonHeaders, Location: location }).end()
}

const reasons = {
  400: 'This is not a path.',
  403: 'This address is for the page that `tare view` opened.',
  404: 'There is nothing here. The address has to be the whole one that `tare view` printed.',
  405: 'Nothing can be changed here.',
  412: 'The file changed.',
  416: 'The file is shorter.',
} as const

function refuse(response: ServerResponse, status: keyof typeof reasons): void {
  const allow = status === 405 ? { Allow: 'GET, HEAD' } : {}
  response.writeHead(status, { ...commonHeaders, ...allow, 'Content-Type': 'text/plain; charset=utf-8' })
  response.end(`${reasons[status]}\n`)
}

/** A file that cannot be read any more. Where the answer has begun, only ending the connection tells that it is not whole. */
function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const code = error instanceof TareError ? error.code : 'verify/internal'
  response.writeHead(500, { ...commonHeaders, 'Content-Type': 'text/plain; charset=utf-8' }).end(`${code}\n`)
}

async function closeServer(server: Server): Promise<void> {
  const closed = new Promise((done) => server.close(done))
  server.closeAllConnections()
  await closed
}
