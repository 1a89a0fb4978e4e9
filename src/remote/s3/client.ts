// Requests to an object store: where a bucket is, how requests are signed, and what can be done about a refusal. A bucket in another region,
// a clock that is wrong and credentials that have expired are each put right once; what may pass is tried again.
import { AwsV4Signer } from 'aws4fetch'
import { failWith } from '../../errors/index.js'
import { readText } from '../body.js'
import { remoteCodes } from '../codes.js'
import { answerTo, defaultIdleTimeout, nameOf, type RequestSettings, StatusError } from '../request.js'
import { withRetries } from '../retry.js'
import { encodeKey, nameOfObject, type StoreScheme } from './address.js'
import { textOf } from './answers.js'

/** What requests to a bucket are signed with. */
export interface S3Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** Where a store is, and who asks. */
export interface S3Options extends Omit<RequestSettings, 'headers' | 'nameOf'> {
  /** Called again when the store says that they have expired. Without credentials requests are not signed. */
  readonly credentials?: S3Credentials | (() => Promise<S3Credentials | undefined>) | undefined
  /** Default: us-east-1, and what the store says about a bucket that is elsewhere. */
  readonly region?: string | undefined
  /** The upload of a body is given up below this rate, in bytes per second. Default: 32,000. */
  readonly uploadRate?: number | undefined
  /** SHA-256 of the body of a request, where the host has a faster way than the one of every platform. */
  readonly sha256?: ((bytes: Uint8Array<ArrayBuffer>) => Uint8Array) | undefined
  /** How addresses of the store begin: `gs` is the one of Google. Default: s3. */
  readonly scheme?: StoreScheme | undefined
  /** A store other than AWS. The bucket is the first part of the path there. */
  readonly endpoint?: string | undefined
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  /** Milliseconds until the answer begins. */
  readonly timeout?: number
}

export interface S3Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Answers are lists of at most a thousand entries. */
const maxAnswer = 16 << 20
const maxError = 1 << 16
/** Stores refuse requests whose clock is a quarter of an hour off; well below that, it is not the reason. */
const maxSkew = 300_000

const googleHost = 'storage.googleapis.com'

export class S3Client {
  readonly bucket: string
  readonly settings: RequestSettings
  readonly #options: S3Options
  readonly #send: typeof fetch
  readonly #keys = new Map<string, ArrayBuffer>()
  #region: string
  #base: URL
  /** How far the clock of the store is ahead of ours, in milliseconds. */
  #ahead = 0
  #credentials: Promise<S3Credentials | undefined> | undefined
  #firstBase: string

  constructor(bucket: string, options: S3Options = {}) {
    this.bucket = bucket
    this.#options = options
    // Browsers refuse their `fetch` as a method of something else.
    this.#send = options.fetch ?? ((input, init) => fetch(input, init))
    this.#region = options.region ?? (options.scheme === 'gs' ? 'auto' : 'us-east-1')
    this.#base = this.#baseIn(this.#region)
    this.#firstBase = this.#base.href
    this.settings = {
      ...options,
      fetch: (input, init) => this.#fetch(new URL(String(input)), init),
      nameOf: this.nameOf,
    }
  }

  /**
   * Google's store copies no ranges, and takes no conditions for what is written: it knows them under names that cannot be mixed with those of
   * S3 in one request.
   */
  get isGoogle(): boolean {
    return this.#options.scheme === 'gs' || this.#base.host === googleHost
  }

  /** How an object is called. */
  nameOfKey(key: string): string {
    return nameOfObject({ scheme: this.#options.scheme ?? 's3', bucket: this.bucket, key })
  }

  /** Identifies the store: objects of one store can be copied without being fetched. */
  get store(): string {
    return this.#options.endpoint ?? (this.#options.scheme === 'gs' ? googleHost : 'aws')
  }

  /** The same store, asked for another bucket. */
  forBucket(bucket: string): S3Client {
    return bucket === this.bucket ? this : new S3Client(bucket, this.#options)
  }

  /** How long the answer to a request may take, in milliseconds: a store reads the body first, and copies before it answers. */
  timeoutFor({ bytes = 0, copies = false }: { readonly bytes?: number; readonly copies?: boolean }): number {
    const { uploadRate = 32_000, idleTimeout = defaultIdleTimeout } = this.#options
    return idleTimeout * (copies ? 10 : 1) + (bytes / uploadRate) * 1000
  }

  /** The digest that a body is sent with. */
  async digestOf(body: Uint8Array<ArrayBuffer>): Promise<string> {
    const digest = this.#options.sha256?.(body) ?? new Uint8Array(await crypto.subtle.digest('SHA-256', body))
    return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }

  /** The address of an object, before it is signed. */
  urlOf(key: string, query: Readonly<Record<string, string>> = {}): URL {
    const url = new URL(this.#firstBase + encodeKey(key))
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    return url
  }

  readonly nameOf = (url: URL): string => {
    if (!url.href.startsWith(this.#firstBase)) return nameOf(url, {})
    return this.nameOfKey(decodeURIComponent(url.pathname.slice(new URL(this.#firstBase).pathname.length)))
  }

  /** Sends a request that has a short answer, again if it fails in a way that may pass. Statuses in `allowed` are not errors. */
  request(request: S3Request, signal: AbortSignal, allowed: readonly number[] = []): Promise<S3Answer> {
    const { method, key, query, headers, body, timeout = this.settings.idleTimeout } = request
    const url = this.urlOf(key, query)
    return withRetries(url, 0, this.settings, signal, async (attempt) => {
      const init: RequestInit = { method, ...(headers && { headers }), ...(body && { body }), redirect: 'manual' }
      const response = await answerTo(url, init, { ...this.settings, idleTimeout: timeout }, attempt)
      const text = await readText(response, url, maxAnswer, this.settings, attempt)
      const code = textOf(text, 'Code')
      // Some operations answer 200 and then fail.
      if (response.ok && code !== undefined && text.includes('<Error>')) throw new StatusError(500, null, code)
      if (!response.ok && !allowed.includes(response.status)) throw statusError(response, code, textOf(text, 'Message'))
      return { status: response.status, headers: response.headers, text }
    })
  }

  /** AWS names the bucket in the host, unless a certificate could not cover that; other stores in the path. */
  #baseIn(region: string): URL {
    const { scheme, endpoint = scheme === 'gs' ? `https://${googleHost}` : undefined } = this.#options
    const { bucket } = this
    if (endpoint !== undefined) {
      if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
        failWith(remoteCodes['bad-address'], { file: endpoint, message: 'the endpoint is an http or https address' })
      const base = new URL(endpoint)
      return new URL(`${base.origin}${base.pathname.replace(/\/$/, '')}/${bucket}/`)
    }
    const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
    const isHost = /^[a-z0-9][a-z0-9-]*$/.test(bucket)
    return new URL(isHost ? `https://${bucket}.s3.${region}.${domain}/` : `https://s3.${region}.${domain}/${bucket}/`)
  }

  /** `fetch` for addresses of the bucket, signed. What a redirect leads to is asked without a signature. */
  async #fetch(url: URL, init: RequestInit = {}): Promise<Response> {
    if (!url.href.startsWith(this.#firstBase)) return this.#send(url, init)
    const tried = new Set<string>()
    const signal = init.signal ?? new AbortController().signal
    for (;;) {
      const response = await this.#sendSigned(url, init)
      if (response.status < 300 || response.status === 412 || response.status === 416) return response
      const text = await readText(response, url, maxError, this.settings, signal).catch(() => '')
      const remedy = this.#remedyFor(response, text)
      if (remedy !== undefined && !tried.has(remedy)) tried.add(remedy)
      else return this.#explained(response, text, init)
    }
  }

  async #sendSigned(given: URL, init: RequestInit): Promise<Response> {
    const url = new URL(this.#base.href + given.href.slice(this.#firstBase.length))
    const credentials = await this.#findCredentials()
    if (!credentials) return this.#send(url, init)
    const headers = new Headers(init.headers)
    // Only these have to be signed, and what lies between may change others.
    const signed = [...headers].filter(([name]) => name.startsWith('x-amz-'))
    const signer = new AwsV4Signer({
      url: url.href,
      method: init.method ?? 'GET',
      headers: [...signed, ...(headers.has('x-amz-content-sha256') ? [] : [unsignedBody])],
      accessKeyId: credentials.accessKeyId,
      secretAccessKey: credentials.secretAccessKey,
      ...(credentials.sessionToken !== undefined && { sessionToken: credentials.sessionToken }),
      service: 's3',
      region: this.#region,
      cache: this.#keys,
      datetime: new Date(Date.now() + this.#ahead).toISOString().replace(/[:-]|\.\d{3}/g, ''),
    })
    for (const [name, value] of (await signer.sign()).headers) headers.set(name, value)
    return this.#send(url, { ...init, headers })
  }

  #findCredentials(): Promise<S3Credentials | undefined> {
    const { credentials } = this.#options
    this.#credentials ??= typeof credentials === 'function' ? credentials() : Promise.resolve(credentials)
    return this.#credentials
  }

  /** What was put right, if anything could be. */
  #remedyFor(response: Response, text: string): string | undefined {
    const code = textOf(text, 'Code')
    const right = response.headers.get('x-amz-bucket-region') ?? textOf(text, 'Region')
    if (
      right !== undefined &&
      right !== this.#region &&
      /^[a-z0-9-]{1,40}$/.test(right) &&
      isAboutRegion(response, code)
    ) {
      this.#region = right
      this.#base = this.#baseIn(right)
      return 'region'
    }
    const ahead = Date.parse(response.headers.get('date') ?? '') - Date.now()
    // The answer to HEAD has no code.
    const isOffClock = response.status === 403 && text === '' && Math.abs(ahead - this.#ahead) > maxSkew
    if ((code === 'RequestTimeTooSkewed' && !Number.isNaN(ahead)) || isOffClock) {
      this.#ahead = ahead
      return 'clock'
    }
    if (/^(ExpiredToken|TokenRefreshRequired)$/.test(code ?? '') && typeof this.#options.credentials === 'function') {
      this.#credentials = undefined
      return 'credentials'
    }
    return undefined
  }

  /** Ranged reads see no bodies of errors, so the reason is thrown here. Requests with short answers read it by themselves. */
  async #explained(response: Response, text: string, init: RequestInit): Promise<Response> {
    const { status, headers } = response
    const isShort = status < 400 || !new Headers(init.headers).has('range')
    if (isShort) return new Response(text === '' ? null : text, { status, headers })
    const isAnonymous = status === 403 && !(await this.#findCredentials())
    throw statusError(response, textOf(text, 'Code'), isAnonymous ? noCredentials : textOf(text, 'Message'))
  }
}

const noCredentials = 'no credentials were found, so the request was not signed'

const unsignedBody: [string, string] = ['x-amz-content-sha256', 'UNSIGNED-PAYLOAD']

const isAboutRegion = ({ status }: Response, code: string | undefined): boolean =>
  status === 301 ||
  status === 307 ||
  (status === 400 && code === undefined) ||
  code === 'AuthorizationHeaderMalformed' ||
  code === 'PermanentRedirect'

/** What the store says is text of a stranger: it is cut, and shown as one line. */
function statusError(response: Response, code: string | undefined, message: string | undefined): StatusError {
  const reason = [code, message].filter((part) => part !== undefined && part !== '').join(': ')
  const isSlow = code === 'SlowDown' || code === 'RequestTimeout' || code === 'InternalError'
  return new StatusError(isSlow ? 503 : response.status, response.headers.get('retry-after'), reason.slice(0, 300))
}
