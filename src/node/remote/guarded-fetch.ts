// `fetch` for untrusted addresses, and for large bodies. A host name can resolve differently when it is checked and when it is used, so the
// address is checked when the connection is made: nothing is sent to a private one, whatever its name. Bodies are sent as they are, where the
// `fetch` of the engine copies them twice.
import { lookup } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { isPrivateAddress, privateAddressError } from './private-address.js'

type Url = Parameters<typeof fetch>[0]

/** The caller handles redirects. */
export function guardedFetch(input: Url, init: RequestInit = {}): Promise<Response> {
  return directFetch(input, init, guardedLookup(new URL(String(input))))
}

/** Without the check. Bodies are bytes. */
export async function directFetch(input: Url, init: RequestInit = {}, lookup?: LookupFunction): Promise<Response> {
  const url = new URL(String(input))
  const body = init.body as Uint8Array | null | undefined
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      method: init.method ?? 'GET',
      headers: {
        ...Object.fromEntries(new Headers(init.headers)),
        ...(body && { 'content-length': body.byteLength }),
      },
      ...(lookup && { lookup }),
      ...(init.signal && { signal: init.signal }),
    }
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve)
    request.on('error', reject)
    request.end(body ?? undefined)
  })
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headersDistinct)) {
    for (const each of value ?? []) headers.append(name, each)
  }
  const hasBody = init.method !== 'HEAD' && status !== 204 && status !== 205 && status !== 304
  if (!hasBody) message.resume()
  const answer = hasBody ? (Readable.toWeb(decoded(message)) as ReadableStream<Uint8Array>) : null
  return new Response(answer, { status, headers })
}

/** Decompresses a body, like `fetch`; the server was asked not to compress it. */
function decoded(message: IncomingMessage): Readable {
  const decoders: Readonly<Record<string, () => Transform>> = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  }
  const decoder = decoders[message.headers['content-encoding']?.toLowerCase() ?? '']
  // Errors of both streams reach the reader of the result.
  return decoder ? pipeline(message, decoder(), () => {}) : message
}

/** Resolves like the system does, and refuses private addresses. */
function guardedLookup(url: URL): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const hit = addresses?.find(({ address }) => isPrivateAddress(address))
      if (error) done(error, '', 4)
      else if (hit) done(privateAddressError(url, hit.address), '', 4)
      else if (options.all) done(null, addresses)
      else done(null, addresses[0]?.address ?? '', addresses[0]?.family ?? 4)
    })
  }
}
