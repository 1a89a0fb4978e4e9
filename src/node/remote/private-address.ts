// Addresses in a remote file must not lead into the network of the machine that reads it.
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { findingOf, TareError } from '../../errors/index.js'
import { remoteCodes } from '../../remote/index.js'

// Two lists, since a single one would compare IPv4 addresses with IPv6 networks too.
const inside = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  inside.ipv4.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  // The public network is 2000::/3. IPv4-mapped, local and multicast addresses lie outside it.
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  // Excluded within it: protocol assignments including Teredo, 6to4, and documentation.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  inside.ipv6.addSubnet(network, bits, 'ipv6')
}

/** Whether an IP address is not public; names are not resolved. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return isPrivateAddress(mapped)
  if (isIP(address) === 0) return false
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
  return inside[family].check(address, family)
}

/** Throws `remote/private-address` if the host is, or resolves to, a private address. */
export async function refusePrivate(url: URL): Promise<void> {
  const hit = await findPrivate(hostOf(url))
  if (hit !== undefined) throw privateAddressError(url, hit)
}

/** The private address that a host is or resolves to, if any. */
export async function findPrivate(host: string): Promise<string | undefined> {
  if (isIP(host)) return isPrivateAddress(host) ? host : undefined
  // These names mean this machine, whatever a DNS server says.
  if (/(^|\.)localhost\.?$/i.test(host)) return '127.0.0.1'
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => address).find(isPrivateAddress)
}

export function privateAddressError(url: URL, address: string): TareError {
  const host = hostOf(url)
  const message = address === host ? 'this is a private address' : `${host} is ${address}, a private address`
  return new TareError(findingOf(remoteCodes['private-address'], { message }, url.href))
}

/** The host name, or its address without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
