// Which tensors the table shows, in which order: indexes into the model's list, so that a million of them take four megabytes.
import type { Model, Tensor } from 'tare/kit'
import type { FiguresOf, Filter } from './filter.js'
import { orderOfNames } from './name-order.js'
import { places, sortByNumber } from './radix.js'

export const sortKeys = ['file', 'name', 'type', 'values', 'size', 'min', 'max', 'mean', 'std', 'zero', 'nan'] as const
export type SortKey = (typeof sortKeys)[number]

export interface Sorting {
  readonly by: SortKey
  readonly isDescending: boolean
}

export function filtered(model: Model, filter: Filter, figures: FiguresOf): Uint32Array {
  const { tensors } = model
  if (filter.isEmpty) return places(tensors.length)
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
  if (by === 'name') return byName(model, chosen, isDescending)
  const sign = isDescending ? -1 : 1
  const keyOf =
    by === 'type' ? typeRanks(model) : (index: number) => numberOf(model.tensors[index]!, index, by, figures)
  const keys = new Float64Array(chosen.length)
  for (let i = 0; i < chosen.length; i++) {
    const key = keyOf(chosen[i]!)
    keys[i] = key === undefined || Number.isNaN(key) ? Number.POSITIVE_INFINITY : sign * key
  }
  return sortByNumber(chosen, keys)
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

function typeRanks({ tensors }: Model): (index: number) => number {
  const ids = new Set<string>()
  for (const { dtype, encoding } of tensors) ids.add((encoding ?? dtype).id)
  const ranks = new Map([...ids].sort().map((id, rank) => [id, rank]))
  return (index) => {
    const { dtype, encoding } = tensors[index]!
    return ranks.get((encoding ?? dtype).id)!
  }
}

const ordersOfNames = new WeakMap<Model, Uint32Array>()

/** All names are put in order once for a model; a view takes those that it shows out of it. */
function byName(model: Model, chosen: Uint32Array, isDescending: boolean): Uint32Array {
  let order = ordersOfNames.get(model)
  if (!order) {
    order = orderOfNames(model.tensors.map(({ name }) => name))
    ordersOfNames.set(model, order)
  }
  if (chosen.length < order.length) {
    const isChosen = new Uint8Array(order.length)
    for (const index of chosen) isChosen[index] = 1
    order = order.filter((index) => isChosen[index] === 1)
  }
  return isDescending ? order.toReversed() : order
}
