// Addresses that a remote file names must not lead into the network of the machine that reads it.
import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { findingOf, TareError } from '../errors/index.js'
import { remoteCodes } from '../remote/index.js'

const inside = new BlockList()
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
  inside.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  // Forms that hold an IPv4 address: with nothing before it, translated, and tunnelled.
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['100::', 64],
  ['2001:db8::', 32],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  inside.addSubnet(network, bits, 'ipv6')
}

/** Whether an IP address is one that the public network does not know; names are not looked up. */
export function isPrivateAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return isPrivateAddress(mapped)
  const family = isIP(address)
  return family !== 0 && inside.check(address, family === 6 ? 'ipv6' : 'ipv4')
}

/** Throws `remote/private-address` when the host of the address is, or resolves to, a private one. */
export async function refusePrivate(url: URL): Promise<void> {
  const hit = await findPrivate(hostOf(url))
  if (hit !== undefined) throw privateAddressError(url, hit)
}

/** The private address that a host is or has, if there is one. */
export async function findPrivate(host: string): Promise<string | undefined> {
  if (isIP(host)) return isPrivateAddress(host) ? host : undefined
  // These names mean this machine, whatever a server of names says.
  if (/(^|\.)localhost\.?$/i.test(host)) return '127.0.0.1'
  const found = await lookup(host, { all: true }).catch(() => [])
  return found.map(({ address }) => address).find(isPrivateAddress)
}

export function privateAddressError(url: URL, address: string): TareError {
  const host = hostOf(url)
  const message = address === host ? 'this is a private address' : `${host} is ${address}, a private address`
  return new TareError(findingOf(remoteCodes['private-address'], { message }, url.href))
}

/** The name of the host, or its address without brackets. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')
