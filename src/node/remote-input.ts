import type { ByteSource } from '../bytes/index.js'
import type { Finding } from '../errors/index.js'
import { HttpSource } from '../remote/index.js'
import { DiskStore } from './disk-store.js'
import { isPrivateAddress, refusePrivate } from './private-address.js'

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
export function openRemote(address: string, options: RemoteOptions = {}): Promise<ByteSource> {
  const typed = new URL(address)
  const isInside = typed.hostname === 'localhost' || isPrivateAddress(typed.hostname.replace(/^\[|\]$/g, ''))
  return HttpSource.open(address, {
    ...settings(options),
    headers: options.headers,
    checkAddress: (url) => (isInside || url.host === typed.host ? undefined : refusePrivate(url)),
  })
}

/** An address that a remote file names: no headers of the user, nothing private. */
export function openNamedRemote(address: string, options: RemoteOptions = {}): Promise<ByteSource> {
  return HttpSource.open(address, { ...settings(options), checkAddress: refusePrivate })
}

function settings({ cache, onFinding, signal }: RemoteOptions) {
  return { onFinding, signal, store: cache === false ? undefined : new DiskStore() }
}
