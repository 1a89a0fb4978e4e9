// Names are bytes. Nearly all are UTF-8 and live as strings; where one is not, its bytes are kept beside a text that shows every odd
// byte as \xNN. Keys are ordered by the bytes of their names, name by name.
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
  return compareUtf8(a.names[index]!, b.names[index]!)
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

export function joinNames(names: readonly string[]): string {
  if (names.length === 1) return names[0]!
  return names.length === 2 ? `${names[0]}.${names[1]}` : names.join('.')
}
