export interface Pairs<T> {
  readonly pairs: readonly { readonly a: T; readonly b: T }[]
  readonly onlyA: readonly T[]
  readonly onlyB: readonly T[]
}

/** Pairs items with the same key, in order. Items without a key stay unpaired. */
export function pairBy<T>(a: readonly T[], b: readonly T[], keyOf: (item: T) => string | undefined): Pairs<T> {
  const waiting = new Map<string, T[]>()
  for (const item of b.toReversed()) {
    const key = keyOf(item)
    if (key === undefined) continue
    const list = waiting.get(key)
    if (list) list.push(item)
    else waiting.set(key, [item])
  }
  const pairs: { a: T; b: T }[] = []
  const onlyA: T[] = []
  for (const item of a) {
    const key = keyOf(item)
    const match = key === undefined ? undefined : waiting.get(key)?.pop()
    if (match === undefined) onlyA.push(item)
    else pairs.push({ a: item, b: match })
  }
  const taken = new Set(pairs.map((pair) => pair.b))
  return { pairs, onlyA, onlyB: b.filter((item) => !taken.has(item)) }
}
