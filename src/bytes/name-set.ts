// Whether a name was there before, for a million of them. A flat table of positions is a fraction of what a Set takes, and several times as
// fast; the names themselves stay in the list that they are in anyway.
// Names are hostile: when too many of them fall on one place, a Map takes over, whose hashes nobody outside can foresee.

/** A million honest names need fewer than a hundred steps at worst. */
const maxSteps = 256
/** Names with the same hash are compared as long as that takes no more characters than all names have that came here, and these. */
const fewCharacters = 4096
const fewest = 16

export class NameSet {
  readonly #nameAt: (position: number) => string
  /** Names that have no place in the list. */
  readonly #others: string[] = []
  /** Two numbers for each place: the hash of a name, and its position plus one; 0 is free, and what is below stands for one of the others. */
  #places: Int32Array
  #count = 0
  #last = 0
  #charactersLeft = fewCharacters
  #fallback: Map<string, number> | undefined

  /** `nameAt` gives back the names that were added, by their positions; `expected`: about so many there will be. */
  constructor(nameAt: (position: number) => string, expected = 0) {
    this.#nameAt = nameAt
    let room = fewest
    while (room <= 2 * expected) room *= 2
    this.#places = new Int32Array(2 * room)
  }

  /** The position of the same name, if it was there before; otherwise it is there from now on. `hash` is that of the name. */
  add(name: string, position: number, hash: number = hashOfName(name)): number | undefined {
    if (this.#fallback) return addTo(this.#fallback, name, position)
    if (4 * this.#count >= this.#places.length) this.#grow()
    const place = this.#placeOf(name, hash)
    if (place === undefined) return addTo(this.#startMap(), name, position)
    const places = this.#places
    if (places[2 * place + 1] !== 0) return places[2 * place + 1]! - 1
    places[2 * place] = hash
    places[2 * place + 1] = position + 1
    this.#last = place
    this.#count++
    return undefined
  }

  /** The position of a name, if it was added. */
  find(name: string, hash: number = hashOfName(name)): number | undefined {
    if (this.#fallback) return this.#fallback.get(name)
    const place = this.#placeOf(name, hash)
    if (place === undefined) return this.#startMap().get(name)
    return this.#places[2 * place + 1] === 0 ? undefined : this.#places[2 * place + 1]! - 1
  }

  /** Where a name is, or the free place where it would be; undefined when it takes too long to tell. */
  #placeOf(name: string, hash: number): number | undefined {
    const places = this.#places
    const mask = places.length / 2 - 1
    this.#charactersLeft += name.length
    let place = spread(hash) & mask
    for (let steps = 0; places[2 * place + 1] !== 0; place = (place + 1) & mask) {
      if (places[2 * place] === hash) {
        const other = this.#nameOf(places[2 * place + 1]! - 1)
        if (other === name) return place
        // One long name, and a short one with its hash that comes again and again: each time the long one is made to be compared.
        this.#charactersLeft -= other.length
      }
      if (++steps > maxSteps || this.#charactersLeft < 0) return undefined
    }
    return place
  }

  /** The name that was added last does not get into the list after all. */
  keepLast(name: string): void {
    const place = -this.#others.push(name)
    if (this.#fallback) this.#fallback.set(name, place - 1)
    else this.#places[2 * this.#last + 1] = place
  }

  #nameOf(position: number): string {
    return position >= 0 ? this.#nameAt(position) : this.#others[-position - 2]!
  }

  #grow(): void {
    const old = this.#places
    const places = new Int32Array(2 * old.length)
    const mask = places.length / 2 - 1
    for (let from = 0; from < old.length; from += 2) {
      if (old[from + 1] === 0) continue
      let place = spread(old[from]!) & mask
      while (places[2 * place + 1] !== 0) place = (place + 1) & mask
      places[2 * place] = old[from]!
      places[2 * place + 1] = old[from + 1]!
    }
    this.#places = places
  }

  #startMap(): Map<string, number> {
    const names = new Map<string, number>()
    for (let i = 1; i < this.#places.length; i += 2) {
      const position = this.#places[i]! - 1
      if (position !== -1) names.set(this.#nameOf(position), position)
    }
    this.#fallback = names
    return names
  }
}

/** Names that count upwards have hashes that lie close together, and places side by side fill up. */
function spread(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return twice ^ (twice >>> 16)
}

function addTo(names: Map<string, number>, name: string, position: number): number | undefined {
  const known = names.get(name)
  if (known === undefined) names.set(name, position)
  return known
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

/** The hash of a name whose characters are there as bytes. */
export function hashOfBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = to - from
  let i = from
  for (; i + 4 <= to; i += 4) {
    hash = nextHash(hash, (bytes[i]! << 24) + (bytes[i + 1]! << 16) + (bytes[i + 2]! << 8) + bytes[i + 3]!)
  }
  if (i === to) return hash
  let word = 0
  for (; i < to; i++) word = (word << 8) + bytes[i]!
  return nextHash(hash, word)
}

/** The hash of a name begins with its length and takes in four characters at a time, the first of them highest. */
export function nextHash(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, 0x01000193)
  return mixed ^ (mixed >>> 15)
}
