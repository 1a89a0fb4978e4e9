import type { Tensor } from './tensor.js'
import type { Each, TensorList } from './tensor-list.js'

/** What an array can do, for lists that make each tensor when it is asked for. */
export abstract class LazyTensors implements TensorList {
  abstract readonly length: number

  /** `index` is one of the list. */
  protected abstract make(index: number): Tensor

  at(index: number): Tensor | undefined {
    const place = index < 0 ? this.length + index : index
    return place >= 0 && place < this.length ? this.make(place) : undefined
  }

  *[Symbol.iterator](): Generator<Tensor, void, void> {
    for (let i = 0; i < this.length; i++) yield this.make(i)
  }

  *keys(): Generator<number, void, void> {
    for (let i = 0; i < this.length; i++) yield i
  }

  *entries(): Generator<[number, Tensor], void, void> {
    for (let i = 0; i < this.length; i++) yield [i, this.make(i)]
  }

  map<T>(change: Each<T>): T[] {
    const { length } = this
    const changed = new Array<T>(length)
    for (let i = 0; i < length; i++) changed[i] = change(this.make(i), i)
    return changed
  }

  flatMap<T>(change: Each<T | readonly T[]>): T[] {
    const changed: T[] = []
    for (const [i, tensor] of this.entries()) {
      const one = change(tensor, i)
      if (isList(one)) for (const each of one) changed.push(each)
      else changed.push(one)
    }
    return changed
  }

  filter(isWanted: Each<unknown>): Tensor[] {
    const found: Tensor[] = []
    for (const [i, tensor] of this.entries()) if (isWanted(tensor, i)) found.push(tensor)
    return found
  }

  find(isWanted: Each<unknown>): Tensor | undefined {
    for (const [i, tensor] of this.entries()) if (isWanted(tensor, i)) return tensor
    return undefined
  }

  some(isWanted: Each<unknown>): boolean {
    return this.find(isWanted) !== undefined
  }

  every(isWanted: Each<unknown>): boolean {
    return !this.some((tensor, i) => !isWanted(tensor, i))
  }

  reduce<T>(add: (sum: T, tensor: Tensor, index: number) => T, start: T): T {
    let sum = start
    for (const [i, tensor] of this.entries()) sum = add(sum, tensor, i)
    return sum
  }

  slice(start?: number, end?: number): Tensor[] {
    const places = [start ?? 0, end ?? this.length].map((place) => (place < 0 ? this.length + place : place))
    const [from, to] = [Math.max(0, places[0]!), Math.min(this.length, places[1]!)]
    return Array.from({ length: Math.max(0, to - from) }, (_, i) => this.make(from + i))
  }

  toSorted(compare: (a: Tensor, b: Tensor) => number): Tensor[] {
    return [...this].sort(compare)
  }

  /** As an array of them has it. */
  toJSON(): Tensor[] {
    return [...this]
  }
}

const isList = <T>(value: T | readonly T[]): value is readonly T[] => Array.isArray(value)
