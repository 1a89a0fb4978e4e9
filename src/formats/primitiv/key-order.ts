// Sorting by key, and finding keys that get in each other's way: in a sorted list they are neighbours. A file can have a million keys, and a
// list of names for each would take several times as much as one text: its bytes, as characters, with an end behind each name that sorts
// before all of them. The order of those texts is that of the keys, and the first names of a key are the beginning of its text.
import { encodeUtf8 } from '../../bytes/index.js'
import type { Key } from './names.js'

/** A zero in a name becomes two characters, of which the second tells it from an end. */
const end = '\0\0'
const zero = '\0\x01'
const ascii = /^[\x01-\x7f]*$/

export function textOfKey({ names, raw }: Key): string {
  const texts = names.map((name, i) => {
    const bytes = raw?.[i]
    return !bytes && ascii.test(name) ? name : textOfBytes(bytes ?? encodeUtf8(name))
  })
  texts.push('')
  return texts.join(end)
}

function textOfBytes(bytes: Uint8Array): string {
  const parts: string[] = []
  for (const byte of bytes) parts.push(byte === 0 ? zero : String.fromCharCode(byte))
  return parts.join('')
}

export interface Conflict {
  /** The same key, or one that would have to be parameter and submodel at once. */
  readonly kind: 'same' | 'clash'
  readonly first: number
  readonly second: number
}

export class KeyOrder {
  /** The numbers of the keys as the format sorts them; those that are equal as they were. */
  readonly order: Uint32Array
  readonly #textAt: (index: number) => string

  /** `keyAt` makes key number `index`, as often as it is asked. */
  constructor(count: number, keyAt: (index: number) => Key) {
    this.order = new Uint32Array(count).map((_, i) => i)
    this.#textAt = (index) => textOfKey(keyAt(index))
    if (this.#isSorted()) return
    // Only here all of them are in memory at once, until the conflicts are known.
    const texts = Array.from(this.order, this.#textAt)
    this.#textAt = (index) => texts[index]!
    this.order.sort((a, b) => {
      const [x, y] = [texts[a]!, texts[b]!]
      if (x === y) return a - b
      return x < y ? -1 : 1
    })
  }

  #isSorted(): boolean {
    let before = ''
    for (const index of this.order) {
      const text = this.#textAt(index)
      if (text < before) return false
      before = text
    }
    return true
  }

  *conflicts(): Generator<Conflict, void, void> {
    let first = -1
    let before = ''
    for (const second of this.order) {
      const text = this.#textAt(second)
      if (first >= 0 && text.startsWith(before)) yield { kind: text === before ? 'same' : 'clash', first, second }
      first = second
      before = text
    }
  }
}
