// `fetch` for addresses that somebody else wrote. A name can mean one address when it is looked at and another when it is asked, so the
// address is judged where the connection is made: nothing is sent to a private one, whatever its name.
import { lookup } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { pipeline, Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { isPrivateAddress, privateAddressError } from './private-address.js'

type Url = Parameters<typeof fetch>[0]

/** GET only; redirects are the caller's business. */
export async function guardedFetch(input: Url, init: RequestInit = {}): Promise<Response> {
  const url = new URL(String(input))
  const message = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = {
      headers: Object.fromEntries(new Headers(init.headers)),
      lookup: guardedLookup(url),
      ...(init.signal && { signal: init.signal }),
    }
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, resolve)
    request.on('error', reject)
    request.end()
  })
  const status = message.statusCode ?? 0
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headersDistinct)) {
    for (const each of value ?? []) headers.append(name, each)
  }
  const hasBody = status !== 204 && status !== 205 && status !== 304
  if (!hasBody) message.resume()
  const body = hasBody ? (Readable.toWeb(decoded(message)) as ReadableStream<Uint8Array>) : null
  return new Response(body, { status, headers })
}

/** A body as it was before the server compressed it, which it was asked not to do; `fetch` unfolds it too. */
function decoded(message: IncomingMessage): Readable {
  const decoders: Readonly<Record<string, () => Transform>> = {
    gzip: createGunzip,
    'x-gzip': createGunzip,
    deflate: createInflate,
    br: createBrotliDecompress,
  }
  const decoder = decoders[message.headers['content-encoding']?.toLowerCase() ?? '']
  // Whoever reads the result gets the errors of both.
  return decoder ? pipeline(message, decoder(), () => {}) : message
}

/** Resolves like the system does, and refuses what it must not lead to. */
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
