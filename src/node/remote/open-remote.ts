import type { ByteSource, OpenHint } from '../../bytes/index.js'
import { HttpSource } from '../../remote/index.js'
import { sizeFromEnvironment } from '../environment.js'
import { DiskStore, defaultCacheDirectory } from '../files/disk-store.js'
import { spoolDownload } from '../files/spool.js'
import { guardedFetch } from './guarded-fetch.js'
import { findPrivate, hostOf, refusePrivate } from './private-address.js'
import type { RemoteOptions } from './remote-options.js'

/** An address that the user typed: it may be private, but it must not lead from a public place into a private one. */
export function openRemote(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  const typed = URL.canParse(address) ? new URL(address) : undefined
  let asked: Promise<string | undefined> | undefined
  /** Whether the address may be asked without a look at where it lies: it is the one that was typed, or that one is private itself. */
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

/** An address that a remote file names: no headers of the user, nothing private. */
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
