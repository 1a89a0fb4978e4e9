import { openFromServer } from '../../api/stores.js'
import type { ByteSource, OpenHint } from '../../bytes/index.js'
import type { Finding } from '../../errors/index.js'
import { type HttpOptions, HttpSource } from '../../remote/index.js'
import type { S3Options } from '../../remote/s3/client.js'
import { sizeFromEnvironment } from '../environment.js'
import { DiskStore, defaultCacheDirectory } from '../files/disk-store.js'
import { spoolDownload } from '../files/spool.js'
import { directFetch, guardedFetch } from './guarded-fetch.js'
import { findPrivate, hostOf, refusePrivate } from './private-address.js'

export interface RemoteOptions {
  /** Sent only to the origin of the address. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The store of `s3:` addresses. Default: what the environment and the profile files say. */
  readonly s3?: S3Options | undefined
  /** False: nothing is cached on disk. */
  readonly cache?: boolean | undefined
  /** Told about warnings and notes; errors are thrown. */
  readonly onFinding?: ((finding: Finding) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** An address typed by the user: it may be private, but a public one must not redirect to a private one. */
export function openRemote(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  return openFromServer(address, requestsTo(address, options), hint)
}

/** How an address typed by the user is requested. */
export function requestsTo(address: string, options: RemoteOptions): HttpOptions {
  const guard = URL.canParse(address) ? guardFor(new URL(address)) : {}
  return { ...storeFor(options), headers: options.headers, ...guard }
}

/** Lets every address pass that is as trusted as the typed one, and no private one beside it. */
export function guardFor(typed: URL): Pick<HttpOptions, 'checkAddress' | 'fetch'> {
  let asked: Promise<string | undefined> | undefined
  /** Whether the address may be requested without a check: it was typed, or the typed one is private itself. */
  const isFree = async (url: URL): Promise<boolean> => {
    if (url.host === typed.host) return true
    asked ??= findPrivate(hostOf(typed))
    return (await asked) !== undefined
  }
  return {
    checkAddress: async (url) => ((await isFree(url)) ? undefined : refusePrivate(url)),
    fetch: async (input, init) => {
      if (!(await isFree(new URL(String(input))))) return guardedFetch(input, init)
      return init?.body instanceof Uint8Array ? directFetch(input, init) : fetch(input, init)
    },
  }
}

/** An address named by a remote file: no headers of the user, nothing private. */
export function openNamedRemote(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  return HttpSource.open(address, { ...storeFor(options), fetch: guardedFetch, checkAddress: refusePrivate }, hint)
}

/** Where what was fetched is kept. */
export function storeFor({ cache, onFinding, signal }: RemoteOptions): HttpOptions {
  const directory = cache === false ? undefined : defaultCacheDirectory()
  return {
    onFinding,
    signal,
    store: directory === undefined ? undefined : new DiskStore({ directory }),
    keepWhole: (body, name) => spoolDownload(body, name, { signal }),
    minRate: sizeFromEnvironment('TARE_MIN_RATE'),
  }
}
