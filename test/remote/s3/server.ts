// An object store on loopback that plays AWS, Ceph or Google's where they differ, checks signatures, counts what moves, and fails on request.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AwsV4Signer } from 'aws4fetch'
import { afterEach, beforeEach } from 'vitest'
import { bytesOf, type Content, contentOf, etagOf, joined, slice } from './content.js'

export type Fault =
  | 'reset'
  | '500'
  | 'slow-down'
  | 'mute'
  | 'short-body'
  | 'wrong-range'
  | 'changed-etag'
  | 'expired-token'
  | 'clock-skew'
  | 'region'
  | 'denied'
  | 'lost-answer'

export type Operation =
  | 'get'
  | 'head'
  | 'put'
  | 'list'
  | 'create'
  | 'part'
  | 'copy'
  | 'parts'
  | 'uploads'
  | 'complete'
  | 'abort'
  | 'delete'

interface StoredObject {
  readonly content: Content
  readonly etag: string
}

interface Upload {
  readonly key: string
  readonly parts: Map<number, StoredObject>
}

export interface Seen {
  readonly operation: Operation
  readonly key: string
  /** Bytes of bodies, to the store and from it. */
  in: number
  out: number
}

export interface S3Server {
  kind: 'aws' | 'ceph' | 'google'
  region: string
  /** The clock of the store, in milliseconds before ours. */
  behind: number
  readonly keys: Map<string, { secret: string; token?: string }>
  readonly objects: Map<string, StoredObject>
  readonly uploads: Map<string, Upload>
  readonly seen: Seen[]
  /** Called for each request; what it returns happens to it. */
  fault: (seen: Seen, index: number) => Fault | undefined
  /** Requests without a signature are let in. */
  isPublic: boolean
  /** Pages of this origin may ask. */
  allowed: string | undefined
  readonly endpoint: string
  put(key: string, ...content: Parameters<typeof contentOf>): void
  /** What the environment of the command has to be. */
  readonly environment: Readonly<Record<string, string>>
}

const minPart = 5 << 20

export function useS3(bucket = 'models'): S3Server {
  let server: Server
  const state: S3Server = {
    kind: 'aws',
    region: 'us-east-1',
    behind: 0,
    keys: new Map(),
    objects: new Map(),
    uploads: new Map(),
    seen: [],
    fault: () => undefined,
    isPublic: false,
    allowed: undefined,
    get endpoint() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    },
    put(key, ...pieces) {
      const content = contentOf(...pieces)
      state.objects.set(key, { content, etag: etagOf(content) })
    },
    get environment() {
      return { AWS_ENDPOINT_URL: state.endpoint, AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'S3CR3T' }
    },
  }
  beforeEach(async () => {
    for (const part of [state.keys, state.objects, state.uploads]) part.clear()
    state.seen.length = 0
    Object.assign(state, { kind: 'aws', region: 'us-east-1', behind: 0, fault: () => undefined, isPublic: false })
    state.allowed = undefined
    state.keys.set('AKID', { secret: 'S3CR3T' })
    server = createServer((request, response) => {
      answer(state, bucket, request, response).catch((error) => response.destroy(error))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return state
}

class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(code)
  }
}

async function answer(state: S3Server, bucket: string, request: IncomingMessage, response: ServerResponse) {
  const url = new URL(request.url!, state.endpoint)
  if (state.allowed !== undefined) allow(state.allowed, response)
  if (request.method === 'OPTIONS') {
    response.writeHead(state.allowed === undefined ? 403 : 204).end()
    return
  }
  const [, asked = '', key = ''] = /^\/([^/]*)\/?(.*)$/s.exec(decodeURIComponent(url.pathname))!
  const seen: Seen = { operation: operationOf(request, url, key), key, in: 0, out: 0 }
  const fault = state.fault(seen, state.seen.length)
  state.seen.push(seen)
  const body = await bodyOf(request)
  seen.in = body.byteLength
  response.setHeader('date', new Date(Date.now() - state.behind).toUTCString())
  if (fault === 'mute') return
  if (fault === 'reset') {
    request.socket.destroy()
    return
  }
  try {
    failAs(fault)
    await checkSignature(state, request, url, body)
    if (state.kind === 'google') refuseForeign(request)
    if (asked !== bucket) throw new Refusal(404, 'NoSuchBucket')
    const call = { state, request, response, url, key, body, seen, fault }
    operations[seen.operation](fault === 'lost-answer' ? { ...call, response: deaf } : call)
    if (fault === 'lost-answer') request.socket.destroy()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const xml = `<?xml version="1.0"?><Error><Code>${error.code}</Code><Message>as asked</Message></Error>`
    const text = request.method === 'HEAD' ? '' : xml
    response.writeHead(error.status, { ...error.headers, 'content-length': String(text.length) }).end(text)
  }
}

function allow(origin: string, response: ServerResponse): void {
  const names = 'authorization, range, if-match, if-none-match, x-amz-date, x-amz-content-sha256, x-amz-security-token'
  response.setHeader('access-control-allow-origin', origin)
  response.setHeader('access-control-allow-methods', 'GET, HEAD, PUT, POST, DELETE')
  response.setHeader('access-control-allow-headers', names)
  response.setHeader('access-control-expose-headers', 'etag, content-range, content-length')
}

/** Nothing of what is said reaches anybody. */
const deaf = { writeHead: () => deaf, end: () => deaf, write: () => true } as unknown as ServerResponse

/** What Google's store does not know from S3. */
function refuseForeign({ method, headers }: IncomingMessage): void {
  if (headers['x-amz-copy-source'] !== undefined) throw new Refusal(501, 'NotImplemented')
  if (method !== 'GET' && method !== 'HEAD' && headers['if-none-match'] !== undefined)
    throw new Refusal(400, 'InvalidArgument')
}

function failAs(fault: Fault | undefined): void {
  if (fault === '500') throw new Refusal(500, 'InternalError')
  if (fault === 'slow-down') throw new Refusal(503, 'SlowDown', { 'retry-after': '0' })
  if (fault === 'expired-token') throw new Refusal(400, 'ExpiredToken')
  if (fault === 'clock-skew') throw new Refusal(403, 'RequestTimeTooSkewed')
  if (fault === 'denied') throw new Refusal(403, 'AccessDenied')
  if (fault === 'region') throw new Refusal(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-9' })
}

function operationOf({ method, headers }: IncomingMessage, { searchParams }: URL, key: string): Operation {
  const has = (name: string): boolean => searchParams.has(name)
  if (method === 'GET') return has('uploads') ? 'uploads' : key === '' ? 'list' : has('uploadId') ? 'parts' : 'get'
  if (method === 'HEAD') return 'head'
  if (method === 'PUT') return has('partNumber') ? (headers['x-amz-copy-source'] ? 'copy' : 'part') : 'put'
  if (method === 'POST') return has('uploads') ? 'create' : 'complete'
  return has('uploadId') ? 'abort' : 'delete'
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function checkSignature(state: S3Server, request: IncomingMessage, url: URL, body: Buffer): Promise<void> {
  const { authorization } = request.headers
  if (authorization === undefined) {
    if (state.isPublic || (await isPresigned(state, url))) return
    throw new Refusal(403, 'AccessDenied')
  }
  const [, id = '', region = '', list = ''] =
    /Credential=([^/]+)\/\d+\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+)/.exec(authorization) ?? []
  const known = state.keys.get(id)
  if (!known) throw new Refusal(403, 'InvalidAccessKeyId')
  const datetime = String(request.headers['x-amz-date'])
  const sent = Date.parse(datetime.replace(/(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z/, '$1-$2-$3T$4:$5:$6Z'))
  if (Math.abs(sent - (Date.now() - state.behind)) > 900_000) throw new Refusal(403, 'RequestTimeTooSkewed')
  if (region !== state.region)
    throw new Refusal(400, 'AuthorizationHeaderMalformed', { 'x-amz-bucket-region': state.region })
  if (known.token !== undefined && request.headers['x-amz-security-token'] !== known.token)
    throw new Refusal(400, 'ExpiredToken')
  const headers = list.split(';').filter((name) => name !== 'host')
  const signer = new AwsV4Signer({
    url: url.href,
    method: request.method!,
    headers: headers.map((name): [string, string] => [name, String(request.headers[name])]),
    ...{ accessKeyId: id, secretAccessKey: known.secret, service: 's3', region, datetime },
  })
  if ((await signer.authHeader()) !== authorization) throw new Refusal(403, 'SignatureDoesNotMatch')
  const hash = request.headers['x-amz-content-sha256']
  if (hash !== 'UNSIGNED-PAYLOAD' && hash !== createHash('sha256').update(body).digest('hex'))
    throw new Refusal(400, 'XAmzContentSHA256Mismatch')
}

/** Whether the address itself is signed. */
async function isPresigned(state: S3Server, url: URL): Promise<boolean> {
  const [id = '', , region = ''] = (url.searchParams.get('X-Amz-Credential') ?? '').split('/')
  const secretAccessKey = state.keys.get(id)?.secret
  const datetime = url.searchParams.get('X-Amz-Date')
  if (secretAccessKey === undefined || datetime === null) return false
  const plain = new URL(url.origin + url.pathname)
  plain.searchParams.set('X-Amz-Expires', url.searchParams.get('X-Amz-Expires') ?? '')
  const given = { accessKeyId: id, secretAccessKey, service: 's3', region, datetime, signQuery: true }
  const signed = await new AwsV4Signer({ url: plain.href, ...given }).sign()
  return signed.url.searchParams.get('X-Amz-Signature') === url.searchParams.get('X-Amz-Signature')
}

interface Call {
  readonly state: S3Server
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly url: URL
  readonly key: string
  readonly body: Buffer
  readonly seen: Seen
  readonly fault: Fault | undefined
}

const operations: Record<Operation, (call: Call) => void> = {
  get: sendObject,
  head: sendObject,
  list,
  put({ state, request, response, key, body }) {
    const there = state.objects.get(key)
    if (request.headers['if-none-match'] === '*' && there) throw new Refusal(412, 'PreconditionFailed')
    state.put(key, body)
    response.writeHead(200, { etag: state.objects.get(key)!.etag }).end()
  },
  create({ state, response, key }) {
    const id = `upload.${state.uploads.size}.${state.seen.length}`
    state.uploads.set(id, { key, parts: new Map() })
    sendXml(response, `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
  },
  part(call) {
    const content = contentOf(call.body)
    const etag = etagOf(content)
    putPart(call, { content, etag })
    call.response.writeHead(200, { etag }).end()
  },
  copy(call) {
    const { state, request, response } = call
    const [, , source = ''] = /^\/?([^/]+)\/(.*)$/s.exec(
      decodeURIComponent(String(request.headers['x-amz-copy-source'])),
    )!
    const object = state.objects.get(source)
    if (!object) throw new Refusal(404, 'NoSuchKey')
    const wanted = request.headers['x-amz-copy-source-if-match']
    if (state.kind === 'aws' && wanted !== undefined && wanted !== object.etag)
      throw new Refusal(412, 'PreconditionFailed')
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(request.headers['x-amz-copy-source-range']))!.map(Number)
    if (last! >= object.content.size) throw new Refusal(400, 'InvalidArgument')
    const content = slice(object.content, first!, last! + 1)
    const etag = etagOf(content)
    putPart(call, { content, etag })
    sendXml(response, `<CopyPartResult><ETag>${etag.replaceAll('"', '&quot;')}</ETag></CopyPartResult>`)
  },
  parts({ state, response, url }) {
    const upload = uploadOf(state, url)
    const after = Number(url.searchParams.get('part-number-marker') ?? 0)
    const all = [...upload.parts].sort(([a], [b]) => a - b).filter(([number]) => number > after)
    const page = all.slice(0, 1000)
    const entries = page.map(
      ([number, { etag, content }]) =>
        `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag><Size>${content.size}</Size></Part>`,
    )
    const isCut = all.length > page.length
    sendXml(
      response,
      `<ListPartsResult><NextPartNumberMarker>${page.at(-1)?.[0] ?? 0}</NextPartNumberMarker><IsTruncated>${isCut}</IsTruncated>${entries.join('')}</ListPartsResult>`,
    )
  },
  uploads({ state, response }) {
    const entries = [...state.uploads].map(
      ([id, { key }]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`,
    )
    sendXml(response, `<ListMultipartUploadsResult>${entries.join('')}</ListMultipartUploadsResult>`)
  },
  complete({ state, request, response, url, key, body }) {
    const upload = uploadOf(state, url)
    const text = body.toString()
    const numbers = [...text.matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map((match) => Number(match[1]))
    const etags = [...text.matchAll(/<ETag>(.*?)<\/ETag>/g)].map((match) => match[1]!.replaceAll(/&(quot|#34);/g, '"'))
    const parts = numbers.map((number) => upload.parts.get(number))
    if (numbers.some((number, i) => i > 0 && number <= numbers[i - 1]!)) throw new Refusal(400, 'InvalidPartOrder')
    if (parts.some((part, i) => part?.etag !== etags[i])) throw new Refusal(400, 'InvalidPart')
    if (parts.slice(0, -1).some((part) => part!.content.size < minPart)) throw new Refusal(400, 'EntityTooSmall')
    if (state.kind === 'ceph' && parts.length !== upload.parts.size) throw new Refusal(400, 'InvalidPart')
    if (state.kind === 'aws' && request.headers['if-none-match'] === '*' && state.objects.has(key))
      throw new Refusal(412, 'PreconditionFailed')
    const content = joined(parts.map((part) => part!.content))
    const etag = `"${createHash('md5').update(etags.join()).digest('hex')}-${parts.length}"`
    state.objects.set(key, { content, etag })
    state.uploads.delete(url.searchParams.get('uploadId')!)
    sendXml(response, `<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`)
  },
  abort({ state, response, url }) {
    uploadOf(state, url)
    state.uploads.delete(url.searchParams.get('uploadId')!)
    response.writeHead(204).end()
  },
  delete({ state, response, key }) {
    state.objects.delete(key)
    response.writeHead(204).end()
  },
}

function uploadOf(state: S3Server, url: URL): Upload {
  const upload = state.uploads.get(url.searchParams.get('uploadId') ?? '')
  if (!upload) throw new Refusal(404, 'NoSuchUpload')
  return upload
}

function putPart({ state, url }: Call, part: StoredObject): void {
  const number = Number(url.searchParams.get('partNumber'))
  if (state.kind === 'aws' && (number < 1 || number > 10_000)) throw new Refusal(400, 'InvalidArgument')
  uploadOf(state, url).parts.set(number, part)
}

function sendObject({ state, request, response, key, seen, fault }: Call): void {
  const object = state.objects.get(key)
  if (!object) throw new Refusal(404, 'NoSuchKey')
  const { size } = object.content
  const etag = fault === 'changed-etag' ? '"another"' : object.etag
  const wanted = request.headers['if-match']
  if (wanted !== undefined && wanted !== etag) throw new Refusal(412, 'PreconditionFailed')
  const headers = { etag, 'accept-ranges': 'bytes' }
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (request.method === 'HEAD' || !range) {
    response.writeHead(200, { ...headers, 'content-length': String(size) })
    response.end(request.method === 'HEAD' ? undefined : bytesOf(object.content))
    return
  }
  const first = Number(range[1])
  if (first >= size) throw new Refusal(416, 'InvalidRange', { 'content-range': `bytes */${size}` })
  const last = Math.min(Number(range[2]), size - 1)
  const bytes = bytesOf(slice(object.content, first, last + 1))
  seen.out = bytes.byteLength
  const shift = fault === 'wrong-range' ? 1 : 0
  response.writeHead(206, {
    ...headers,
    'content-range': `bytes ${first + shift}-${last + shift}/${size + shift}`,
    'content-length': String(bytes.byteLength),
  })
  if (fault === 'short-body') response.write(bytes.subarray(0, bytes.byteLength / 2), () => response.destroy())
  else response.end(bytes)
}

function list({ state, response, url }: Call): void {
  const prefix = url.searchParams.get('prefix') ?? ''
  const isFlat = !url.searchParams.has('delimiter')
  const after = url.searchParams.get('continuation-token') ?? ''
  const keys = [...state.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const isOwn = (key: string): boolean => isFlat || !key.slice(prefix.length).includes('/')
  const own = keys.filter(isOwn)
  const page = own.slice(0, 1000)
  const folders = new Set(
    keys.filter((key) => !isOwn(key)).map((key) => `${prefix}${key.slice(prefix.length).split('/')[0]}/`),
  )
  const entries = page.map((key) => {
    const { content, etag } = state.objects.get(key)!
    return `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${content.size}</Size><ETag>${etag}</ETag></Contents>`
  })
  const isCut = own.length > page.length
  const next = isCut ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
  const common = [...folders].map(
    (each) => `<CommonPrefixes><Prefix>${encodeURIComponent(each)}</Prefix></CommonPrefixes>`,
  )
  sendXml(
    response,
    `<ListBucketResult><IsTruncated>${isCut}</IsTruncated>${next}${entries.join('')}${common.join('')}</ListBucketResult>`,
  )
}

function sendXml(response: ServerResponse, xml: string): void {
  response
    .writeHead(200, { 'content-type': 'application/xml', 'content-length': String(Buffer.byteLength(xml)) })
    .end(xml)
}
