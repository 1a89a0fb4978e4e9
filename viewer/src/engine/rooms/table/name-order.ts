// Names in natural order, so that layer 2 comes before layer 10. Names of a model begin alike, and there can be a million of them: they are
// written into words of four characters once, and sorted word by word, where only those that are equal so far go on.
import { places, sortByWord } from './radix.js'

/** A text whose plain order is the natural one: each number is preceded by how long it is. */
export const naturalKey = (name: string): string =>
  name.replace(/\d+/g, (digits) => String.fromCharCode(48 + Math.min(digits.length, 60)) + digits)

export const naturalOrder = (a: string, b: string): number => {
  const [x, y] = [naturalKey(a), naturalKey(b)]
  return x < y ? -1 : x > y ? 1 : 0
}

/** The indexes of the names in natural order; equal names stay as they are. */
export function orderOfNames(names: readonly string[]): Uint32Array {
  const keys = keysOf(names)
  if (keys) return sortWords(keys)
  const texts = names.map(naturalKey)
  const order = texts.map((_, i) => i).sort((a, b) => (texts[a]! < texts[b]! ? -1 : texts[a]! > texts[b]! ? 1 : a - b))
  return Uint32Array.from(order)
}

interface Keys {
  /** Four bytes a word, the first in the highest. The last word of a name ends in 0. */
  readonly words: Uint32Array
  /** Where each name begins. */
  readonly starts: Uint32Array
}

/** Undefined where a name has the character that ends names. */
function keysOf(names: readonly string[]): Keys | undefined {
  const starts = new Uint32Array(names.length)
  let keys = new Uint8Array(names.reduce((sum, { length }) => sum + length + (length >>> 3) + 8, 8))
  let to = 0
  for (let index = 0; index < names.length; index++) {
    const name = names[index]!
    // A character has up to three bytes, a digit could be a number of its own, and every name ends on a word.
    if (to + 3 * name.length + 8 > keys.length) keys = grown(keys, to + 3 * name.length + 8)
    starts[index] = to >>> 2
    // Nearly all names are ASCII; reading their characters is faster than a copy of them as bytes.
    const end = writeText(name, 127, keys, to) ?? writeText(asBytes(name), 255, keys, to)
    if (end === undefined) return undefined
    to = (end + 4) & ~3
  }
  return { words: wordsOf(keys, to >>> 2), starts }
}

/** Where it ends; undefined where a character is beyond the last one that may be, or 0. */
function writeText(text: string, last: number, keys: Uint8Array, start: number): number | undefined {
  let to = start
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code > last || code === 0) return undefined
    if (isDigit(code) && (i === 0 || !isDigit(text.charCodeAt(i - 1)))) {
      let end = i + 1
      while (end < text.length && isDigit(text.charCodeAt(end))) end++
      keys[to++] = lengthSign(end - i)
    }
    keys[to++] = code
  }
  return to
}

/** A character for each byte. */
const asBytes = (name: string): string => Array.from(utf8.encode(name), (byte) => String.fromCharCode(byte)).join('')

const utf8 = new TextEncoder()

const isDigit = (code: number): boolean => code >= 48 && code <= 57

/** What stands before a number says how long it is. */
const lengthSign = (digits: number): number => 48 + Math.min(digits, 60)

/** With room to spare, so that it happens a few times only. */
function grown(keys: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.ceil(1.5 * size) + 8)
  larger.set(keys)
  return larger
}

/** In place: numbers that compare as their bytes do, whichever way the machine stores them. */
function wordsOf(keys: Uint8Array<ArrayBuffer>, count: number): Uint32Array {
  const words = new Uint32Array(keys.buffer, 0, count)
  for (let i = 0, at = 0; i < count; i++, at += 4)
    words[i] = (keys[at]! << 24) | (keys[at + 1]! << 16) | (keys[at + 2]! << 8) | keys[at + 3]!
  return words
}

/** Fewer than these are sorted by putting one after the other into its place. */
const few = 32

function sortWords({ words, starts }: Keys): Uint32Array {
  const order = places(starts.length)
  const isAfter = (a: number, b: number, depth: number): boolean => {
    for (let i = starts[a]! + depth, j = starts[b]! + depth; ; i++, j++) {
      const word = words[i]!
      if (word !== words[j]!) return word > words[j]!
      if ((word & 255) === 0) return false
    }
  }
  const insert = (from: number, to: number, depth: number): void => {
    for (let i = from + 1; i < to; i++) {
      const index = order[i]!
      let j = i
      for (; j > from && isAfter(order[j - 1]!, index, depth); j--) order[j] = order[j - 1]!
      order[j] = index
    }
  }
  const sort = (from: number, to: number, start: number): void => {
    for (let depth = start; ; depth++) {
      if (to - from < few) {
        insert(from, to, depth)
        return
      }
      const keys = new Uint32Array(to - from)
      let [isSorted, isOne] = [true, true]
      for (let i = 0; i < keys.length; i++) {
        const key = words[starts[order[from + i]!]! + depth]!
        keys[i] = key
        if (i === 0) continue
        if (key < keys[i - 1]!) isSorted = false
        if (key !== keys[0]) isOne = false
      }
      if (isOne && (keys[0]! & 255) === 0) return
      if (isOne) continue
      const sorted = isSorted ? keys : sortRun(order.subarray(from, to), keys)
      for (let first = 0, next = 0; first < sorted.length; first = next) {
        const key = sorted[first]!
        while (next < sorted.length && sorted[next] === key) next++
        if (next - first > 1 && (key & 255) !== 0) sort(from + first, from + next, depth + 1)
      }
      return
    }
  }
  sort(0, order.length, 0)
  return order
}

/** More than these do not fit a number together with a word: 2^20 places and 32 bits. */
const maxPacked = 2 ** 20

/** Puts a run in the order of its keys, and gives the keys in that order. Word and place are one number, which engines sort without a call. */
function sortRun(run: Uint32Array, keys: Uint32Array): Uint32Array {
  const count = run.length
  const before = run.slice()
  if (count > maxPacked) {
    const sorted = sortByWord(places(count), keys)
    for (let i = 0; i < count; i++) run[i] = before[sorted[i]!]!
    return sorted.map((place) => keys[place]!)
  }
  const packed = new Float64Array(count)
  for (let i = 0; i < count; i++) packed[i] = keys[i]! * maxPacked + i
  packed.sort()
  const sorted = new Uint32Array(count)
  for (let i = 0; i < count; i++) {
    const key = Math.floor(packed[i]! / maxPacked)
    sorted[i] = key
    run[i] = before[packed[i]! - key * maxPacked]!
  }
  return sorted
}
