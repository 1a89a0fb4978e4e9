// Models at an address. What connects to a network is loaded with the first address: most commands never see one, and it takes Node longer
// to load that than all of tare.
import type { ByteSource, OpenHint } from '../../bytes/index.js'
import type { RemoteOptions } from './remote-options.js'

export type { RemoteOptions }

export const isRemote = (input: string): boolean => /^https?:\/\//i.test(input)

type Open = (address: string, options?: RemoteOptions, hint?: OpenHint) => Promise<ByteSource>

/** An address that the user typed: it may be private, but it must not lead from a public place into a private one. */
export const openRemote: Open = async (...args) => (await import('./open-remote.js')).openRemote(...args)

/** An address that a remote file names: no headers of the user, nothing private. */
export const openNamedRemote: Open = async (...args) => (await import('./open-remote.js')).openNamedRemote(...args)
