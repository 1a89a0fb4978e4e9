// A key is the list of names that leads to a parameter from the root. Names are bytes. Nearly all are UTF-8 and live as strings; where one is
// not, its bytes are kept beside a text that shows every odd byte as \xNN. Keys are ordered by the bytes of their names, name by name, and in
// that order keys that exclude each other are neighbours.
import { compareUtf8, decodeUtf8, encodeUtf8 } from '../../bytes/index.js'

export interface Key {
  readonly names: readonly string[]
  /** The bytes of all names, when at least one is not UTF-8. */
  readonly raw?: readonly Uint8Array[] | undefined
}

/** A text for bytes that are not UTF-8: what is valid stays, any other byte becomes \xNN, and a backslash is doubled. */
export function shownText(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.byteLength; ) {
    const size = sequenceLength(bytes[at]!)
    const character = size > 0 ? decodeUtf8(bytes.subarray(at, at + size)) : undefined
    if (character === undefined) {
      parts.push(`\\x${bytes[at]!.toString(16).padStart(2, '0')}`)
      at++
    } else {
      parts.push(character === '\\' ? '\\\\' : character)
      at += size
    }
  }
  return parts.join('')
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1
  if (lead < 0xc2 || lead > 0xf4) return 0
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}

// A zero in a name becomes two characters, of which the second tells it from the end of the name.
const nameEnd = '\0\0'
const zero = '\0\x01'
const ascii = /^[\x01-\x7f]*$/

/** A text that sorts as the key does, and begins with the texts of all keys whose names are its first names. */
export function sortText({ names, raw }: Key): string {
  const isPlain = !raw && names.every((name) => ascii.test(name))
  const texts = isPlain ? names : names.map((name, i) => textOfBytes(raw?.[i] ?? encodeUtf8(name)))
  return [...texts, ''].join(nameEnd)
}

/** A character for each byte. */
const textOfBytes = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => (byte === 0 ? zero : String.fromCharCode(byte))).join('')

/** Whether `b` sorts behind `a` and neither excludes the other, as far as that can be told without their bytes. */
export function isBehind(b: Key, a: Key): boolean {
  if (a.raw || b.raw) return false
  for (let i = 0; i < Math.min(a.names.length, b.names.length); i++) {
    const name = b.names[i]!
    if (name !== a.names[i]) return compareUtf8(name, a.names[i]!) > 0
  }
  return false
}

export interface Conflict {
  /** The same key, or one that would have to be parameter and submodel at once. */
  readonly kind: 'same' | 'clash'
  readonly first: number
  readonly second: number
}

export interface SortedKeys {
  /** The positions of the keys as the format sorts them; equal ones keep their order. */
  readonly order: readonly number[]
  /** Neighbours in that order that cannot both be in one model. */
  readonly conflicts: readonly Conflict[]
}

/** `texts`: the sort texts of the keys. */
export function sortKeys(texts: readonly string[]): SortedKeys {
  const compare = (a: number, b: number): number => (texts[a] === texts[b] ? 0 : texts[a]! < texts[b]! ? -1 : 1)
  const order = [...texts.keys()].sort(compare)
  const conflicts: Conflict[] = []
  for (let i = 1; i < order.length; i++) {
    const [first, second] = [order[i - 1]!, order[i]!]
    if (!texts[second]!.startsWith(texts[first]!)) continue
    conflicts.push({ kind: texts[first] === texts[second] ? 'same' : 'clash', first, second })
  }
  return { order, conflicts }
}
