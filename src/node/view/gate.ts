// Who may ask. Every page that a browser shows can send requests to 127.0.0.1, so an address alone protects nothing: the path holds a token
// that only the user was told, the name in `Host` must be ours (a stranger's domain can be made to point here), and a request that a page
// sends must come from our page.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What a request asks for, or the status of the refusal. */
export type Admission = { readonly path: readonly string[] } | { readonly refused: 400 | 403 | 404 | 405 }

export function admit({ method, url = '', headers }: IncomingMessage, token: string, port: number): Admission {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  const { host = '', origin } = headers
  if (!hosts.includes(host)) return { refused: 403 }
  if (origin !== undefined && origin !== `http://${host}`) return { refused: 403 }
  if (isFromElsewhere(headers)) return { refused: 403 }
  if (method !== 'GET' && method !== 'HEAD') return { refused: 405 }
  const segments = decodeSegments(url)
  if (!segments) return { refused: 400 }
  const [given = '', ...path] = segments
  return isSame(given, token) ? { path } : { refused: 404 }
}

/** Browsers say where a request comes from. A link that somebody follows may stand anywhere. */
function isFromElsewhere(headers: IncomingMessage['headers']): boolean {
  const site = headers['sec-fetch-site'] ?? 'none'
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return site !== 'none' && site !== 'same-origin' && !isLink
}

/** The parts between slashes. Undefined where one of them is not what it seems: an encoded slash, a broken escape. */
function decodeSegments(url: string): string[] | undefined {
  const path = url.replace(/[?#].*$/s, '')
  if (!path.startsWith('/')) return undefined
  try {
    const segments = path.slice(1).split('/').map(decodeURIComponent)
    return segments.some((segment) => /[/\u0000]/.test(segment)) ? undefined : segments
  } catch {
    return undefined
  }
}

/** Takes the same time wherever the two differ. */
function isSame(given: string, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
