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

/** Names by their rank: comparing numbers is many times faster than comparing texts, and equal names are compared once. */
function byText(model: Model, chosen: Uint32Array, by: 'name' | 'type', isDescending: boolean): Uint32Array {
  const textOf = ({ name, dtype, encoding }: Tensor): string => (by === 'name' ? name : (encoding ?? dtype).id)
  const texts = [...new Set(Array.from(chosen, (i) => textOf(model.tensors[i]!)))].sort(naturalOrder)
  const ranks = new Map(texts.map((text, rank) => [text, rank]))
  const keys = new Uint32Array(model.tensors.length)
  for (const i of chosen) keys[i] = ranks.get(textOf(model.tensors[i]!))!
  const sign = isDescending ? -1 : 1
  return chosen.toSorted((a, b) => sign * (keys[a]! - keys[b]!) || a - b)
}

/** Layer 2 before layer 10. */
export function naturalOrder(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  let at = 0
  while (at < length && a.charCodeAt(at) === b.charCodeAt(at)) at++
  if (at === length) return a.length - b.length
  let start = at
  while (start > 0 && isDigit(a.charCodeAt(start - 1))) start--
  const [endA, endB] = [digitsEnd(a, start), digitsEnd(b, start)]
  if (endA === start || endB === start) return a.charCodeAt(at) - b.charCodeAt(at)
  const difference = Number(a.slice(start, endA)) - Number(b.slice(start, endB))
  return difference || a.charCodeAt(at) - b.charCodeAt(at)
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57

function digitsEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && isDigit(text.charCodeAt(end))) end++
  return end
}
