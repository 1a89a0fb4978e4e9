// What the things in a checkpoint are called: the keys from the root down, joined by dots. Two ways can give the same name, where a key has a
// dot in it or is a number; the later one then gets a number behind its name.
import type { PickleDict, PickleValue } from '../../../wire/pickle/pickle.js'
import { keyText } from './plain.js'

/** The names that are not just the joined keys, by their paths. */
export type NumberedNames = ReadonlyMap<string, string>

export class PathNames {
  /** How many things would have a name. */
  readonly #counts = new Map<string, number>()
  readonly #numbered: Map<string, string>

  /** `numbered` is filled. */
  constructor(numbered: Map<string, string>) {
    this.#numbered = numbered
  }

  /** The name of one more thing, which would be called `name`. */
  add(path: readonly string[], name: string): string {
    let count = (this.#counts.get(name) ?? 0) + 1
    if (count === 1) {
      this.#counts.set(name, 1)
      return name
    }
    while (this.#counts.has(`${name}~${count}`)) count++
    this.#counts.set(name, count)
    const numbered = `${name}~${count}`
    this.#counts.set(numbered, 1)
    this.#numbered.set(pathKey(path), numbered)
    return numbered
  }
}

const pathKey = (path: readonly string[]): string => JSON.stringify(path)

export const nameOf = (path: readonly string[], numbered: NumberedNames): string =>
  (numbered.size > 0 ? numbered.get(pathKey(path)) : undefined) ?? path.join('.')

/** A key of a dictionary as a part of a path: the number 1 is told from the text "1" where both are keys. */
export function segmentOf(key: PickleValue, dict: PickleDict): string {
  const text = keyText(key)
  return typeof key !== 'string' && dict.get(text) !== undefined ? `${text}~` : text
}
