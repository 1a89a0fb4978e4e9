// How addresses are shown. Names, passwords and signatures in them are as good as a key until they expire.
import { decodePercent } from './decode-percent.js'

const secretParameter =
  /([?&](?:x-(?:amz|goog)-(?:signature|credential|security-token)|signature|sig|policy|key-pair-id|[a-z_]*token)=)([^&#]*)/gi

/** An address without what must not be shown. */
export function shownAddress(address: string): string {
  return address.replace(/^(\w+:\/\/)[^/?#]*@/, '$1').replace(secretParameter, '$1hidden')
}

/** Shorter ones are words that may stand for something else. */
const minSecret = 6

/** What must not be shown of the addresses among these words, and what is shown in its place. */
export function secretsOf(words: readonly string[]): Map<string, string> {
  const addresses = words.flatMap((word) => /https?:\/\/.*/is.exec(word)?.[0] ?? [])
  return new Map([
    ...addresses.map((address) => [address, shownAddress(address)] as const),
    ...addresses.flatMap(secretsIn).map((secret) => [secret, 'hidden'] as const),
  ])
}

/** As they are written in an address and as they are meant. */
function secretsIn(address: string): string[] {
  const [, login = ''] = /^\w+:\/\/([^/?#]*)@/.exec(address) ?? []
  const password = login.slice(login.indexOf(':') + 1)
  const found = [password, ...[...address.matchAll(secretParameter)].map((match) => match[2]!)]
  return [...found, ...found.map(decodePercent)].filter((text) => text.length >= minSecret)
}
