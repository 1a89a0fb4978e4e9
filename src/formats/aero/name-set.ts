// Whether a name was there before, for a million of them. A flat table is a fraction of what a Set takes, and several times as fast.
// Names are hostile: when too many of them fall on one place, a Set takes over, whose hashes nobody outside can foresee.

/** A million honest names need fewer than a hundred steps at worst. */
const mostSteps = 256

export class NameSet {
  readonly #names: string[] = []
  /** Two numbers for each place: the hash of a name, and its position in the list plus one; 0 is free. */
  readonly #places: Int32Array
  /** The number of places, a power of two, less one. */
  readonly #mask: number
  #fallback: Set<string> | undefined

  /** For at most so many names. */
  constructor(most: number) {
    const count = 2 ** Math.ceil(Math.log2(2 * most + 2))
    this.#places = new Int32Array(2 * count)
    this.#mask = count - 1
  }

  /** False when the name was there already; `hash` is that of the name. */
  add(name: string, hash: number): boolean {
    if (this.#fallback) return addTo(this.#fallback, name)
    const places = this.#places
    let place = spread(hash) & this.#mask
    for (let steps = 0; places[2 * place + 1] !== 0; place = (place + 1) & this.#mask) {
      if (places[2 * place] === hash && this.#names[places[2 * place + 1]! - 1] === name) return false
      if (++steps > mostSteps) {
        this.#fallback = new Set(this.#names)
        return addTo(this.#fallback, name)
      }
    }
    places[2 * place] = hash
    places[2 * place + 1] = this.#names.push(name)
    return true
  }
}

/** Names that count upwards have hashes that lie close together, and places side by side fill up. */
function spread(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

function addTo(names: Set<string>, name: string): boolean {
  const before = names.size
  return names.add(name).size > before
}

/** Of plain ASCII names this is the hash of their bytes. */
export function hashOfName(name: string): number {
  let hash = name.length
  for (let i = 0; i < name.length; i += 4) {
    let word = 0
    for (let k = i; k < Math.min(i + 4, name.length); k++) word = (word << 8) + name.charCodeAt(k)
    hash = nextHash(hash, word)
  }
  return hash
}

/** The hash of a name begins with its length and takes in four characters at a time, the first of them highest. */
export function nextHash(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x01000193)
  return mixed ^ (mixed >>> 15)
}
