// A key is the list of names that leads to a parameter from the root. Names are bytes. Nearly all are UTF-8 and live as strings; where one is
// not, its bytes are kept beside a text that shows every odd byte as \xNN. Keys are ordered by the bytes of their names, name by name, and in
// that order keys that exclude each other are neighbours.
import { compareBytes, compareUtf8, decodeUtf8, encodeUtf8 } from '../../bytes/index.js'

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

const bytesOf = (key: Key, index: number): Uint8Array => key.raw?.[index] ?? encodeUtf8(key.names[index]!)

function compareName(a: Key, b: Key, index: number): number {
  if (a.raw || b.raw) return compareBytes(bytesOf(a, index), bytesOf(b, index))
  const name = a.names[index]!
  const other = b.names[index]!
  return name === other ? 0 : compareUtf8(name, other)
}

export function compareKeys(a: Key, b: Key): number {
  const count = Math.min(a.names.length, b.names.length)
  for (let i = 0; i < count; i++) {
    const order = compareName(a, b, i)
    if (order !== 0) return order
  }
  return a.names.length - b.names.length
}

/** Whether the names of `a` are the first names of `b`, or all of them. */
export function isPrefix(a: Key, b: Key): boolean {
  if (a.names.length > b.names.length) return false
  for (let i = 0; i < a.names.length; i++) if (compareName(a, b, i) !== 0) return false
  return true
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

export function sortKeys(keys: readonly Key[]): SortedKeys {
  const order = [...keys.keys()].sort((a, b) => compareKeys(keys[a]!, keys[b]!))
  const conflicts: Conflict[] = []
  for (let i = 1; i < order.length; i++) {
    const [first, second] = [order[i - 1]!, order[i]!]
    const [a, b] = [keys[first]!, keys[second]!]
    if (isPrefix(a, b)) conflicts.push({ kind: a.names.length === b.names.length ? 'same' : 'clash', first, second })
  }
  return { order, conflicts }
}
