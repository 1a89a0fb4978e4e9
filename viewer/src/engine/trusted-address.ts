// Scripts of the page itself are the only ones that workers are started from; the page's policy (Trusted Types) refuses every other.
import { isOffline } from '../state/offline.js'

interface Policy {
  createScriptURL(address: string): unknown
}

interface Factory {
  createPolicy(name: string, rules: { createScriptURL(address: string): string }): Policy
}

function ownScript(address: string): string {
  // Only the page itself makes these.
  if (isOffline && address.startsWith('blob:')) return address
  const url = new URL(address, document.baseURI)
  if (url.origin !== location.origin || url.pathname.includes('..'))
    throw new TypeError(`${url.href} is not our script`)
  return url.href
}

const factory = (globalThis as { trustedTypes?: Factory }).trustedTypes
const policy: Policy = factory?.createPolicy('tare', { createScriptURL: ownScript }) ?? { createScriptURL: ownScript }

export const startWorker = (address: string): Worker =>
  new Worker(policy.createScriptURL(address) as string, { type: isOffline ? 'classic' : 'module' })
