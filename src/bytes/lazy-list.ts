// Lists of a million things. Objects for all of them would take more memory than everything else, so the lists keep what they say in another
// form. Twice the same place gives equal items there, not the same object.

type Each<T, R> = (item: T, index: number) => R

/** What arrays and lists that make their items on the way have in common. */
export interface List<T> extends Iterable<T> {
  readonly length: number
  at(index: number): T | undefined
  keys(): IterableIterator<number>
  entries(): IterableIterator<[number, T]>
  map<R>(change: Each<T, R>): R[]
  flatMap<R>(change: Each<T, R | readonly R[]>): R[]
  filter(isWanted: Each<T, unknown>): T[]
  find(isWanted: Each<T, unknown>): T | undefined
  findIndex(isWanted: Each<T, unknown>): number
  forEach(use: Each<T, void>): void
  some(isWanted: Each<T, unknown>): boolean
  every(isWanted: Each<T, unknown>): boolean
  reduce<R>(add: (sum: R, item: T, index: number) => R, start: R): R
  slice(start?: number, end?: number): T[]
  toSorted(compare: (a: T, b: T) => number): T[]
}

/** What an array can do, for lists that make each item when it is asked for. */
export abstract class LazyList<T> implements List<T> {
  abstract readonly length: number

  /** `index` is one of the list. */
  protected abstract make(index: number): T

  at(index: number): T | undefined {
    const whole = Math.trunc(index) || 0 // as arrays have it
    const place = whole < 0 ? this.length + whole : whole
    return place >= 0 && place < this.length ? this.make(place) : undefined
  }

  *[Symbol.iterator](): Generator<T, void, void> {
    for (let i = 0; i < this.length; i++) yield this.make(i)
  }

  *keys(): Generator<number, void, void> {
    for (let i = 0; i < this.length; i++) yield i
  }

  *entries(): Generator<[number, T], void, void> {
    for (let i = 0; i < this.length; i++) yield [i, this.make(i)]
  }

  map<R>(change: Each<T, R>): R[] {
    const { length } = this
    const changed = new Array<R>(length)
    for (let i = 0; i < length; i++) changed[i] = change(this.make(i), i)
    return changed
  }

  flatMap<R>(change: Each<T, R | readonly R[]>): R[] {
    const changed: R[] = []
    for (const [i, item] of this.entries()) {
      const one = change(item, i)
      if (isList(one)) for (const each of one) changed.push(each)
      else changed.push(one)
    }
    return changed
  }

  filter(isWanted: Each<T, unknown>): T[] {
    const found: T[] = []
    for (const [i, item] of this.entries()) if (isWanted(item, i)) found.push(item)
    return found
  }

  find(isWanted: Each<T, unknown>): T | undefined {
    for (const [i, item] of this.entries()) if (isWanted(item, i)) return item
    return undefined
  }

  findIndex(isWanted: Each<T, unknown>): number {
    for (const [i, item] of this.entries()) if (isWanted(item, i)) return i
    return -1
  }

  forEach(use: Each<T, void>): void {
    for (const [i, item] of this.entries()) use(item, i)
  }

  some(isWanted: Each<T, unknown>): boolean {
    return this.findIndex(isWanted) >= 0
  }

  every(isWanted: Each<T, unknown>): boolean {
    return !this.some((item, i) => !isWanted(item, i))
  }

  reduce<R>(add: (sum: R, item: T, index: number) => R, start: R): R {
    let sum = start
    for (const [i, item] of this.entries()) sum = add(sum, item, i)
    return sum
  }

  slice(start?: number, end?: number): T[] {
    const places = [start ?? 0, end ?? this.length].map((place) => (place < 0 ? this.length + place : place))
    const [from, to] = [Math.max(0, places[0]!), Math.min(this.length, places[1]!)]
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => this.make(from + i))
  }

  toSorted(compare: (a: T, b: T) => number): T[] {
    return [...this].sort(compare)
  }

  /** As an array of them has it. */
  toJSON(): T[] {
    return [...this]
  }
}

const isList = <T>(value: T | readonly T[]): value is readonly T[] => Array.isArray(value)
