// One ranged GET: redirects are followed manually so that headers of the caller never reach another origin, transient failures are retried,
// and every response is compared with the request.
import { decodeUtf8, encodeUtf8 } from '../bytes/index.js'
import { failWith, TareError } from '../errors/index.js'
import { remoteCodes } from './codes.js'
import { shownAddress } from './shown-address.js'

export interface RequestSettings {
  /** Headers of the caller, such as Authorization. Never sent to an origin other than the one the user typed. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Used instead of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined
  /** How many times a request is tried, including the first. */
  readonly tries?: number | undefined
  /** Milliseconds before the second try; doubled each time. */
  readonly backoff?: number | undefined
  /** Milliseconds of silence after which a connection counts as broken. */
  readonly idleTimeout?: number | undefined
  /** How an address is called in messages. Default: itself, without signatures and tokens. */
  readonly nameOf?: ((url: URL) => string) | undefined
  /** Throws for addresses that must not be requested. */
  readonly checkAddress?: ((url: URL) => Promise<void> | void) | undefined
}

export interface RangeAnswer {
  readonly response: Response
  /** The address of the response, after redirects. */
  readonly url: URL
}

/** How an address is called in messages. */
export const nameOf = (url: URL, settings: Pick<RequestSettings, 'nameOf'>): string =>
  settings.nameOf?.(url) ?? shownAddress(url.href)

/** Credentials in the address are sent as a header: `fetch` does not accept them, and messages must not show them. */
export function parseAddress(
  address: string,
  headers: RequestSettings['headers'],
): { url: URL; headers: RequestSettings['headers'] } {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    return failWith(remoteCodes['bad-address'], { file: address, message: 'an http or https address is wanted' })
  }
  const { username, password } = url
  url.hash = ''
  if (username === '' && password === '') return { url, headers }
  url.username = ''
  url.password = ''
  const credentials = encodeUtf8(`${decodePercent(username)}:${decodePercent(password)}`)
  return { url, headers: { Authorization: `Basic ${btoa(String.fromCharCode(...credentials))}`, ...headers } }
}

/** A percent sign that starts no escape stands for itself. */
const decodePercent = (text: string): string =>
  text.replace(/(%[0-9a-f]{2})+/gi, (codes) => {
    const bytes = codes.match(/[^%]{2}/g)!.map((code) => Number.parseInt(code, 16))
    return decodeUtf8(Uint8Array.from(bytes)) ?? codes
  })

const maxRedirects = 8
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Sends a GET for `range` (both ends inclusive), following redirects. Only statuses 200, 206 and 416 are returned. */
export async function requestRange(
  start: URL,
  range: readonly [first: number, last: number],
  settings: RequestSettings,
  conditions: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<RangeAnswer> {
  let url = start
  for (let hops = 0; hops <= maxRedirects; hops++) {
    await settings.checkAddress?.(url)
    const isHome = url.origin === start.origin
    const headers = {
      ...(isHome ? settings.headers : {}),
      ...(isForeign(url) ? {} : conditions),
      Range: `bytes=${range[0]}-${range[1]}`,
      'Accept-Encoding': 'identity',
    }
    const response = await answerTo(url, { headers, redirect: 'manual' }, settings, signal)
    if (response.type === 'opaqueredirect')
      return followUnseen(url, isHome ? (settings.headers ?? {}) : {}, range, settings, signal)
    const { status } = response
    if (status === 206) await refuseEncoded(response, nameOf(start, settings), range[0])
    if (status === 200 || status === 206 || status === 416) return { response, url }
    await response.body?.cancel().catch(() => {})
    if (status === 412)
      failWith(remoteCodes.changed, {
        file: nameOf(start, settings),
        offset: range[0],
        message: 'the file changed on the server',
      })
    if (status < 300 || status >= 400) throw new StatusError(status, response.headers.get('retry-after'))
    url = redirectTarget(response, url, nameOf(start, settings))
  }
  return failWith(remoteCodes.redirect, {
    file: nameOf(start, settings),
    message: `more than ${maxRedirects} redirects`,
  })
}

export const defaultIdleTimeout = 30_000

/** Sends a request. A server that does not respond counts as a broken connection, like one that stops in the middle. */
export async function answerTo(
  url: URL,
  init: RequestInit,
  { fetch: send = fetch, idleTimeout = defaultIdleTimeout }: RequestSettings,
  signal: AbortSignal,
): Promise<Response> {
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error(`no answer came for ${idleTimeout / 1000} s`)), idleTimeout)
  try {
    return await send(url, { ...init, signal: AbortSignal.any([signal, silence.signal]) })
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Whether a page belongs to another origin than the address. Its browser would have to ask the server for permission to send a condition,
 * which few servers grant. Responses are compared with the expected version in any case.
 */
const isForeign = (url: URL): boolean => globalThis.location !== undefined && globalThis.location.origin !== url.origin

/**
 * Browsers do not reveal where a redirect leads, so the browser has to follow it. It drops Authorization if the origin changes, but no
 * other header.
 */
async function followUnseen(
  from: URL,
  headers: Readonly<Record<string, string>>,
  [first, last]: readonly [first: number, last: number],
  settings: RequestSettings,
  signal: AbortSignal,
): Promise<RangeAnswer> {
  const refuse = (message: string): never =>
    failWith(remoteCodes.redirect, { file: nameOf(from, settings), offset: first, message })
  const unsafe = Object.keys(headers).find((name) => name.toLowerCase() !== 'authorization')
  if (unsafe !== undefined) refuse(`a redirect that is not shown could take the header ${unsafe} to another origin`)
  if (settings.checkAddress) refuse('a redirect leads to an address that is not shown and cannot be checked')
  const init: RequestInit = { headers: { ...headers, Range: `bytes=${first}-${last}` }, redirect: 'follow' }
  const response = await answerTo(from, init, settings, signal)
  const url = new URL(response.url)
  const { status } = response
  const isDowngrade = from.protocol === 'https:' && url.protocol === 'http:'
  if (!isDowngrade && (status === 200 || status === 206 || status === 416)) {
    if (status === 206) await refuseEncoded(response, nameOf(from, settings), first)
    return { response, url }
  }
  await response.body?.cancel().catch(() => {})
  if (isDowngrade) refuse('a redirect leads from https to http')
  throw new StatusError(status, response.headers.get('retry-after'))
}

/** A range of a compressed file is not a range of the file. */
async function refuseEncoded(response: Response, file: string, offset: number): Promise<void> {
  const encoding = response.headers.get('content-encoding') ?? 'identity'
  if (encoding === 'identity' || encoding === '') return
  await response.body?.cancel().catch(() => {})
  const message = `the server sends it compressed (${encoding}), although it was asked not to`
  failWith(remoteCodes['range-mismatch'], { file, offset, message })
}

function redirectTarget(response: Response, from: URL, file: string): URL {
  const location = response.headers.get('location')
  const next = location !== null && URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  if (!next || !/^https?:$/.test(next.protocol)) {
    return failWith(remoteCodes.redirect, {
      file,
      message: `a redirect to ${JSON.stringify(location)} leads nowhere`,
    })
  }
  if (from.protocol === 'https:' && next.protocol === 'http:') {
    return failWith(remoteCodes.redirect, { file, message: 'a redirect leads from https to http' })
  }
  // Credentials there are not the caller's to send, and `fetch` does not accept them.
  next.username = ''
  next.password = ''
  return next
}

/** Milliseconds; servers send seconds or a date. */
function waitingTime(text: string): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) * 1000
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

/** An error status; some are transient. */
/** Whether a server said that there is nothing at an address. */
export const isNotFound = (error: unknown): boolean =>
  error instanceof TareError && error.cause instanceof StatusError && error.cause.status === 404

export class StatusError extends Error {
  readonly status: number
  readonly retryAfter: number | undefined

  /** `reason` is what the server says beside the status. */
  constructor(status: number, retryAfter: string | null, reason = '') {
    super(`the server answered ${status}${reason === '' ? '' : ` (${reason})`}`)
    this.status = status
    this.retryAfter = retryAfter === null ? undefined : waitingTime(retryAfter)
  }

  get mayPass(): boolean {
    return passing.has(this.status)
  }
}
