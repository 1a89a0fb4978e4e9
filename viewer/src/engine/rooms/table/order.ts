// Which tensors the table shows, in which order: indexes into the model's list, so that a million of them take four megabytes.
import type { Model, Tensor } from 'tare/kit'
import type { FiguresOf, Filter } from './filter.js'

export const sortKeys = ['file', 'name', 'type', 'values', 'size', 'min', 'max', 'mean', 'std', 'zero', 'nan'] as const
export type SortKey = (typeof sortKeys)[number]

export interface Sorting {
  readonly by: SortKey
  readonly isDescending: boolean
}

export function filtered(model: Model, filter: Filter, figures: FiguresOf): Uint32Array {
  const { tensors } = model
  const chosen = new Uint32Array(tensors.length)
  let count = 0
  for (let i = 0; i < tensors.length; i++) if (filter.test(tensors[i]!, i, figures)) chosen[count++] = i
  return chosen.subarray(0, count)
}

/** Equal ones stay in the order of the file. Figures that are not known come last. */
export function sorted(
  model: Model,
  chosen: Uint32Array,
  { by, isDescending }: Sorting,
  figures: FiguresOf,
): Uint32Array {
  if (by === 'file') return isDescending ? chosen.toReversed() : chosen
  if (by === 'name' || by === 'type') return byText(model, chosen, by, isDescending)
  const keys = new Float64Array(model.tensors.length)
  const sign = isDescending ? -1 : 1
  for (const i of chosen) {
    const key = numberOf(model.tensors[i]!, i, by, figures)
    keys[i] = key === undefined ? Number.POSITIVE_INFINITY : sign * key
  }
  return chosen.toSorted((a, b) => keys[a]! - keys[b]! || a - b)
}

function numberOf({ shape, data }: Tensor, index: number, by: SortKey, figures: FiguresOf): number | undefined {
  if (by === 'size') return data?.byteLength ?? 0
  if (by === 'values') return shape.reduce((product, dim) => product * dim, 1)
  const known = figures(index)
  if (!known) return undefined
  const { count, zero, nan, infinite, min, max, mean, std } = known
  const found = { zero: zero / count, nan: nan + infinite, min, max, mean, std }[by as 'min']
  return found ?? undefined
}

/** By their ranks: comparing numbers is many times faster than comparing texts. */
function byText(model: Model, chosen: Uint32Array, by: 'name' | 'type', isDescending: boolean): Uint32Array {
  const keys = by === 'name' ? nameRanks(model) : typeRanks(model)
  const sign = isDescending ? -1 : 1
  return chosen.toSorted((a, b) => sign * (keys[a]! - keys[b]!) || a - b)
}

function typeRanks({ tensors }: Model): Uint32Array {
  const ids = new Set<string>()
  for (const { dtype, encoding } of tensors) ids.add((encoding ?? dtype).id)
  const ranks = new Map([...ids].sort().map((id, rank) => [id, rank]))
  return Uint32Array.from(tensors, ({ dtype, encoding }) => ranks.get((encoding ?? dtype).id)!)
}

const ranksOfNames = new WeakMap<Model, Uint32Array>()

/** Once for a model. Files are often in this order already, which a plain array notices and a typed one does not. */
function nameRanks(model: Model): Uint32Array {
  const known = ranksOfNames.get(model)
  if (known) return known
  const keys = model.tensors.map(({ name }) => naturalKey(name))
  const order = keys.map((_, i) => i).sort((a, b) => (keys[a]! < keys[b]! ? -1 : keys[a]! > keys[b]! ? 1 : a - b))
  const ranks = new Uint32Array(keys.length)
  for (const [rank, i] of order.entries()) ranks[i] = rank
  ranksOfNames.set(model, ranks)
  return ranks
}

/** A text whose plain order is the natural one: each number is preceded by how long it is, so that layer 2 comes before layer 10. */
export const naturalKey = (name: string): string =>
  name.replace(/\d+/g, (digits) => String.fromCharCode(48 + Math.min(digits.length, 60)) + digits)

export const naturalOrder = (a: string, b: string): number => {
  const [x, y] = [naturalKey(a), naturalKey(b)]
  return x < y ? -1 : x > y ? 1 : 0
}
