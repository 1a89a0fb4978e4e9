// Some containers sort their entries. The model's order is kept as the sorted position of each name.
import { compareUtf8 } from '../bytes/index.js'

export function orderOf(names: readonly string[]): number[] {
  const places = new Map(names.toSorted(compareUtf8).map((name, place) => [name, place]))
  return names.map((name) => places.get(name)!)
}

export const isSorted = (order: readonly number[]): boolean => order.every((place, i) => place === i)

/** The items in the stored order; unchanged if it does not fit them. */
export function inOrder<T>(items: readonly T[], nameOf: (item: T) => string, order?: readonly number[]): readonly T[] {
  if (!order || order.length !== items.length || new Set(order).size !== order.length) return items
  const sorted = items.toSorted((a, b) => compareUtf8(nameOf(a), nameOf(b)))
  return order.every((place) => place < sorted.length) ? order.map((place) => sorted[place]!) : items
}
