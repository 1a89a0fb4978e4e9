// Names in addresses, and the address of a signature.
import { decodePercent } from '../../remote/decode-percent.js'
import { addressBeside } from '../../remote/http-source.js'
import { nameOfHubFile } from '../../remote/hub/address.js'
import { isFolderAddress } from '../../remote/listing.js'
import { isS3Address, nameOfObject, parseS3Address } from '../../remote/s3/address.js'
import { placeAt } from '../fetch/collection.js'
import { hubAddress } from '../remote/open-hub.js'
import { isRemote, type RemoteOptions } from '../remote/remote-input.js'

export function nameOfAddress(address: string): string {
  const hub = hubAddress(address)
  if (hub) return lastOf(hub.path) || lastOf(hub.repository)
  if (isS3Address(address)) {
    const { key, bucket } = parseS3Address(address)
    return lastOf(key) || bucket
  }
  const { pathname, hostname } = new URL(address)
  return decodePercent(lastOf(pathname)) || hostname
}

/** The path of an address below another, with slashes; undefined if it is elsewhere. */
export function pathBelowAddress(home: string, address: string): string | undefined {
  const [from, to] = [home, address].map(pathOf) as [string | undefined, string | undefined]
  const folder = from?.replace(/\/*$/, '/')
  return folder !== undefined && to?.startsWith(folder) && to.length > folder.length
    ? to.slice(folder.length)
    : undefined
}

/** The same for all ways to write an address; undefined for a file here. */
function pathOf(address: string): string | undefined {
  const hub = hubAddress(address)
  if (hub) return nameOfHubFile(hub, hub.path)
  if (isS3Address(address)) return nameOfObject(parseS3Address(address))
  if (!isRemote(address)) return undefined
  const { origin, pathname } = new URL(address)
  return origin + decodePercent(pathname)
}

export async function signatureAt(address: string, options?: RemoteOptions): Promise<string> {
  const hub = hubAddress(address)
  const name = (isFolder: boolean, path: string): string => {
    const home = path.replace(/\/+$/, '')
    return isFolder ? `${home}${home === '' ? '' : '/'}model.sig` : `${path}.sig`
  }
  const isFolder = async (path: string): Promise<boolean> =>
    path === '' || path.endsWith('/') || (await placeAt(address, options)).isFolder
  if (hub) return nameOfHubFile(hub, name(await isFolder(hub.path), hub.path))
  if (isS3Address(address)) {
    const place = parseS3Address(address)
    return nameOfObject({ ...place, key: name(await isFolder(place.key), place.key) })
  }
  const url = new URL(address)
  return addressBeside(url, isFolderAddress(address) ? 'model.sig' : `${nameOfAddress(address)}.sig`).href
}

const lastOf = (path: string): string => path.replace(/\/+$/, '').split('/').at(-1)!
