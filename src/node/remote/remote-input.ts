// Models at an address. Network code is loaded with the first address: most commands never use one, and it takes Node longer to load than
// all of tare.
import type { ByteSource, OpenHint } from '../../bytes/index.js'
import { ioCodes, TareError } from '../../errors/index.js'
import type { RemoteOptions } from './open-remote.js'

export { isRemote } from '../../remote/is-remote.js'
export type { RemoteOptions }

type Open = (address: string, options?: RemoteOptions, hint?: OpenHint) => Promise<ByteSource>

/** An address typed by the user, of whatever kind. */
export const openAddress: Open = async (address, ...args) => {
  if (/^(?:s3|gs):/i.test(address)) return (await import('./open-s3.js')).openS3(address, ...args)
  const { hubAddress, openHub } = await import('./open-hub.js')
  const repository = hubAddress(address)
  return repository ? openHub(repository, args[0]) : openRemote(address, ...args)
}

/** Whether opening an address failed because nothing is there. */
export async function isMissing(error: unknown): Promise<boolean> {
  if (!(error instanceof TareError)) return false
  if (error.code === ioCodes['not-found'].code) return true
  return (await import('../../remote/request.js')).isNotFound(error)
}

/** An http address typed by the user: it may be private, but a public one must not redirect to a private one. */
export const openRemote: Open = async (...args) => (await import('./open-remote.js')).openRemote(...args)

/** An http address named by a remote file: no headers of the user, nothing private. */
export const openNamedRemote: Open = async (...args) => (await import('./open-remote.js')).openNamedRemote(...args)
