import type { ByteSource, OpenHint } from '../../bytes/index.js'
import type { Finding } from '../../errors/index.js'
import { HttpSource } from '../../remote/index.js'
import { sizeFromEnvironment } from '../environment.js'
import { DiskStore, defaultCacheDirectory } from '../files/disk-store.js'
import { spoolDownload } from '../files/spool.js'
import { guardedFetch } from './guarded-fetch.js'
import { findPrivate, hostOf, refusePrivate } from './private-address.js'

export interface RemoteOptions {
  /** Sent only to the origin of the address. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** False: nothing is cached on disk. */
  readonly cache?: boolean | undefined
  readonly onFinding?: ((finding: Finding) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** An address typed by the user: it may be private, but a public one must not redirect to a private one. */
export function openRemote(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  const typed = URL.canParse(address) ? new URL(address) : undefined
  let asked: Promise<string | undefined> | undefined
  /** Whether the address may be requested without a check: it was typed, or the typed one is private itself. */
  const isFree = async (url: URL): Promise<boolean> => {
    if (!typed || url.host === typed.host) return true
    asked ??= findPrivate(hostOf(typed))
    return (await asked) !== undefined
  }
  const settings = {
    ...common(options),
    headers: options.headers,
    checkAddress: async (url: URL) => ((await isFree(url)) ? undefined : refusePrivate(url)),
    fetch: async (input: URL | RequestInfo, init?: RequestInit) =>
      (await isFree(new URL(String(input)))) ? fetch(input, init) : guardedFetch(input, init),
  }
  return HttpSource.open(address, settings, hint)
}

/** An address named by a remote file: no headers of the user, nothing private. */
export function openNamedRemote(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  return HttpSource.open(address, { ...common(options), fetch: guardedFetch, checkAddress: refusePrivate }, hint)
}

function common({ cache, onFinding, signal }: RemoteOptions) {
  const directory = cache === false ? undefined : defaultCacheDirectory()
  return {
    onFinding,
    signal,
    store: directory === undefined ? undefined : new DiskStore({ directory }),
    keepWhole: (body: AsyncIterable<Uint8Array>, name: string) => spoolDownload(body, name, { signal }),
    minRate: sizeFromEnvironment('TARE_MIN_RATE'),
  }
}
