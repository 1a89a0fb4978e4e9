// The order of a million names by their UTF-8 bytes. An array of all of them would take several times the memory of their bytes, so these
// lie one behind the other, and numbers are sorted.
import { compareBytes, compareUtf8, encodeUtf8 } from './text.js'

/** A name, or its bytes where they are no text. */
type Name = string | Uint8Array

/**
 * Positions in the order of their names, equal ones as they were, what has a lower rank before all others; undefined when they are in that
 * order already.
 */
export function nameOrder(
  count: number,
  nameAt: (position: number) => Name,
  rankAt: (position: number) => number = () => 0,
): Uint32Array | undefined {
  if (doAscend(count, nameAt, rankAt)) return undefined
  const names = new PackedNames(count, nameAt)
  const ranks = Int32Array.from({ length: count }, (_, i) => rankAt(i))
  return Uint32Array.from({ length: count }, (_, i) => i).sort(
    (a, b) => ranks[a]! - ranks[b]! || names.compare(a, b) || a - b,
  )
}

function doAscend(count: number, nameAt: (position: number) => Name, rankAt: (position: number) => number): boolean {
  let last: Name = ''
  let lastRank = Number.NEGATIVE_INFINITY
  for (let i = 0; i < count; i++) {
    const [name, rank] = [nameAt(i), rankAt(i)]
    if (rank < lastRank || (rank === lastRank && compare(last, name) > 0)) return false
    last = name
    lastRank = rank
  }
  return true
}

function compare(a: Name, b: Name): number {
  if (isText(a) && isText(b)) return compareUtf8(a, b)
  return compareBytes(bytesOf(a), bytesOf(b))
}

/** Half of a surrogate pair has the bytes of U+FFFD, and not the place among texts that it would have as a whole. */
const isText = (name: Name): name is string => typeof name === 'string' && name.isWellFormed()

const bytesOf = (name: Name): Uint8Array => (typeof name === 'string' ? encodeUtf8(name) : name)

class PackedNames {
  readonly #starts: Float64Array
  #bytes = new Uint8Array(1024)

  constructor(count: number, nameAt: (position: number) => Name) {
    const encoder = new TextEncoder()
    this.#starts = new Float64Array(count + 1)
    let end = 0
    for (let i = 0; i < count; i++) {
      const name = nameAt(i)
      // UTF-8 takes at most three bytes for each unit of a string.
      this.#makeRoom(end + (typeof name === 'string' ? 3 * name.length : name.byteLength))
      if (typeof name === 'string') end += encoder.encodeInto(name, this.#bytes.subarray(end)).written
      else {
        this.#bytes.set(name, end)
        end += name.byteLength
      }
      this.#starts[i + 1] = end
    }
  }

  compare(a: number, b: number): number {
    const bytes = this.#bytes
    const starts = this.#starts
    let x = starts[a]!
    let y = starts[b]!
    const lengths = starts[a + 1]! - x - (starts[b + 1]! - y)
    const end = lengths < 0 ? starts[a + 1]! : x + starts[b + 1]! - y
    for (; x < end; x++, y++) if (bytes[x] !== bytes[y]) return bytes[x]! - bytes[y]!
    return lengths
  }

  #makeRoom(length: number): void {
    if (length <= this.#bytes.byteLength) return
    const bytes = new Uint8Array(Math.max(length, 2 * this.#bytes.byteLength))
    bytes.set(this.#bytes)
    this.#bytes = bytes
  }
}
