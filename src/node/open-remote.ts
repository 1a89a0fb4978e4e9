import type { ByteSource, OpenHint } from '../bytes/index.js'
import type { Finding } from '../errors/index.js'
import { HttpSource } from '../remote/index.js'
import { DiskStore } from './disk-store.js'
import { guardedFetch } from './guarded-fetch.js'
import { hostOf, isPrivateAddress, refusePrivate } from './private-address.js'

export interface RemoteOptions {
  /** Sent to the origin of the address, and to no other. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** False: nothing is kept on disk. */
  readonly cache?: boolean | undefined
  readonly onFinding?: ((finding: Finding) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

export const isRemote = (input: string): boolean => /^https?:\/\//i.test(input)

/** An address that the user typed: it may be private, but it must not lead from a public place into a private one. */
export function openRemote(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  const typed = URL.canParse(address) ? new URL(address) : undefined
  const isInside = typed !== undefined && (typed.hostname === 'localhost' || isPrivateAddress(hostOf(typed)))
  const settings = {
    ...common(options),
    headers: options.headers,
    checkAddress: (url: URL) => (isInside || url.host === typed?.host ? undefined : refusePrivate(url)),
  }
  return HttpSource.open(address, settings, hint)
}

/** An address that a remote file names: no headers of the user, nothing private. */
export function openNamedRemote(address: string, options: RemoteOptions = {}, hint?: OpenHint): Promise<ByteSource> {
  return HttpSource.open(address, { ...common(options), fetch: guardedFetch, checkAddress: refusePrivate }, hint)
}

function common({ cache, onFinding, signal }: RemoteOptions) {
  return { onFinding, signal, store: cache === false ? undefined : new DiskStore() }
}
