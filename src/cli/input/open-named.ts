// Files that an index names outside its own directory. The index may come from a stranger, so what it names is opened only as far as the
// user allows it: paths with --lenient, addresses with --remote-parts, wherever the index itself lies. Only the origin that the user typed
// needs no permission: the server of the index is also the server of its parts.
import { dirname, resolve } from 'node:path'
import {
  type ByteSource,
  FileSource,
  type Finding,
  findingOf,
  ioCodes,
  isRemote,
  type OpenHint,
  openNamedRemote,
  openRemote,
  TareError,
} from '../../kit-node.js'
import type { Context } from '../context.js'

interface Allowed extends Pick<Context, 'lenient' | 'remoteParts' | 'signal' | 'cache'> {
  readonly onFinding: (finding: Finding) => void
}

/** Throws `io/unsafe-path` for what is not allowed. Requests carry the user's headers only to the same origin. */
export async function openNamed(
  location: string,
  from: ByteSource,
  allowed: Allowed,
  hint: OpenHint | undefined,
): Promise<ByteSource> {
  const isAddress = /^(?:https?|s3|gs|hf):/i.test(location)
  if (!isAddress && !allowed.lenient) {
    refuse(location, 'it lies outside the directory of the model that names it; --lenient follows it')
  }
  if (isRemote(from.name)) {
    const href = isAddress ? location : new URL(location, from.name).href
    return (await from.sameOrigin?.(href, hint)) ?? openAddress(href, allowed, hint)
  }
  return isAddress ? openAddress(location, allowed, hint) : FileSource.open(resolve(dirname(from.name), location))
}

async function openAddress(address: string, allowed: Allowed, hint: OpenHint | undefined): Promise<ByteSource> {
  const { signal, cache, onFinding } = allowed
  if (!/^https?:/i.test(address)) refuse(address, 'it lies in another bucket or repository, which is not followed')
  const options = { signal, cache, onFinding }
  if (allowed.remoteParts === 'any') return openRemote(address, options, hint)
  if (allowed.remoteParts !== 'public') {
    refuse(address, 'it is an address that the index names; --remote-parts fetches it')
  }
  try {
    return await openNamedRemote(address, options, hint)
  } catch (error) {
    if (!(error instanceof TareError) || error.code !== 'remote/private-address') throw error
    return refuse(address, `${error.finding.message}; --remote-parts any fetches it nevertheless`)
  }
}

function refuse(location: string, message: string): never {
  throw new TareError(findingOf(ioCodes['unsafe-path'], { message, offset: 0, path: location }, location))
}
