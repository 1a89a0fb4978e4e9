// One ranged GET, done carefully: redirects are followed by hand so that headers of the caller never reach another origin, failures that
// may pass are tried again, and every answer is compared with what was asked.
import { encodeUtf8 } from '../bytes/index.js'
import { failWith } from '../errors/index.js'
import { remoteCodes } from './codes.js'

export interface RequestSettings {
  /** What the caller adds, for example Authorization. Never sent to another origin than the one the user typed. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly fetch?: typeof fetch | undefined
  /** How often a request is tried, the first time included. */
  readonly tries?: number | undefined
  /** Milliseconds before the second try; doubled each time. */
  readonly backoff?: number | undefined
  /** Milliseconds without any byte after which a connection counts as broken. */
  readonly idleTimeout?: number | undefined
  /** Refuses addresses before they are asked; throws. */
  readonly checkAddress?: ((url: URL) => Promise<void> | void) | undefined
}

export interface RangeAnswer {
  readonly response: Response
  /** Where the bytes came from, after redirects. */
  readonly url: URL
}

/** A name and password in the address are sent like any other header of the caller; `fetch` takes none there, and messages show none. */
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
  const credentials = encodeUtf8(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
  return { url, headers: { Authorization: `Basic ${btoa(String.fromCharCode(...credentials))}`, ...headers } }
}

const maxRedirects = 8
const passing: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Sends a GET for `range` (both ends inclusive), following redirects. Only statuses 200, 206 and 416 come back. */
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
      ...conditions,
      Range: `bytes=${range[0]}-${range[1]}`,
      'Accept-Encoding': 'identity',
    }
    const response = await (settings.fetch ?? fetch)(url, { headers, redirect: 'manual', signal })
    const { status } = response
    if (status === 206) await refuseEncoded(response, start, range[0])
    if (status === 200 || status === 206 || status === 416) return { response, url }
    await response.body?.cancel().catch(() => {})
    if (status === 412)
      failWith(remoteCodes.changed, { file: start.href, offset: range[0], message: 'the file changed on the server' })
    if (status < 300 || status >= 400)
      throw new StatusError(status, start.href, range[0], response.headers.get('retry-after'))
    url = redirectTarget(response, url, start)
  }
  return failWith(remoteCodes.redirect, { file: start.href, message: `more than ${maxRedirects} redirects` })
}

/** Ranges of a compressed file are not ranges of the file. */
async function refuseEncoded(response: Response, url: URL, offset: number): Promise<void> {
  const encoding = response.headers.get('content-encoding') ?? 'identity'
  if (encoding === 'identity' || encoding === '') return
  await response.body?.cancel().catch(() => {})
  const message = `the server sends it compressed (${encoding}), although it was asked not to`
  failWith(remoteCodes['range-mismatch'], { file: url.href, offset, message })
}

function redirectTarget(response: Response, from: URL, start: URL): URL {
  const location = response.headers.get('location')
  const next = location !== null && URL.canParse(location, from.href) ? new URL(location, from.href) : undefined
  if (!next || !/^https?:$/.test(next.protocol)) {
    return failWith(remoteCodes.redirect, {
      file: start.href,
      message: `a redirect to ${JSON.stringify(location)} leads nowhere`,
    })
  }
  if (from.protocol === 'https:' && next.protocol === 'http:') {
    return failWith(remoteCodes.redirect, { file: start.href, message: 'a redirect leads from https to http' })
  }
  return next
}

/** An answer that means no; some of them may mean yes a little later. */
export class StatusError extends Error {
  readonly status: number
  readonly offset: number
  readonly url: string
  readonly retryAfter: number | undefined

  constructor(status: number, url: string, offset: number, retryAfter: string | null) {
    super(`the server answered ${status}`)
    this.status = status
    this.url = url
    this.offset = offset
    this.retryAfter = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined
  }

  get mayPass(): boolean {
    return passing.has(this.status)
  }
}
