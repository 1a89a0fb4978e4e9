// Layers repeat: `layers.0.attn.q.weight`, `layers.1.attn.q.weight`, … of the same type and shape become one row, whose name is a pattern
// that stands for exactly these names: `layers.{0..31}.attn.q.weight`.

export interface Repeated<T> {
  readonly name: string
  /** In the order of the list, at least one. */
  readonly members: readonly T[]
}

/** Fewer are listed one by one. */
const minCount = 3

/** The index of a layer or an expert: digits between separators. */
const indexForm = /(?<=^|[._/])\d{1,9}(?=$|[._/])/g

/** `kindOf` tells apart what must not share a row. Groups stand where their first members stood. */
export function collapseLayers<T extends { readonly name: string }>(
  items: readonly T[],
  kindOf: (item: T) => string,
): Repeated<T>[] {
  const all = groupBy(items, (item) => `${item.name.replace(indexForm, '*')}\n${kindOf(item)}`)
  return all.flatMap((group) => {
    if (group.length === 1) return oneByOne(group)
    const whole = describe(group)
    if (whole) return [whole]
    // The indices do not fill a grid: layers with other numbers of experts. Those of each layer may.
    const byFirst = groupBy(group, ({ name }) => name.match(indexForm)?.[0] ?? '')
    return byFirst.flatMap((part) => describe(part) ?? oneByOne(part))
  })
}

const oneByOne = <T extends { readonly name: string }>(items: readonly T[]): Repeated<T>[] =>
  items.map((item) => ({ name: item.name, members: [item] }))

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return [...groups.values()]
}

/** The pattern for names that differ in their indices only; undefined if there is none that stands for these and no others. */
function describe<T extends { readonly name: string }>(members: readonly T[]): Repeated<T> | undefined {
  if (members.length < minCount) return undefined
  const indices = members.map(({ name }) => name.match(indexForm) ?? [])
  const columns = indices[0]!.map((_, i) => [...new Set(indices.map((each) => each[i]!))])
  const count = columns.reduce((product, column) => product * column.length, 1)
  const names = new Set(members.map(({ name }) => name))
  if (count !== members.length || names.size !== members.length) return undefined
  let at = 0
  return { name: members[0]!.name.replace(indexForm, () => describeIndices(columns[at++]!)), members }
}

/** `3`, `{0..31}`, `{0,2,5..9}`; many gaps are not listed. */
function describeIndices(indices: readonly string[]): string {
  if (indices.length === 1) return indices[0]!
  const sorted = indices.map(Number).toSorted((a, b) => a - b)
  const ranges: [first: number, last: number][] = []
  for (const index of sorted) {
    const range = ranges.at(-1)
    if (range && index === range[1] + 1) range[1] = index
    else ranges.push([index, index])
  }
  const shown = ranges.map(([first, last]) => (first === last ? String(first) : `${first}..${last}`))
  if (shown.length > maxRanges) shown.splice(maxRanges - 1, shown.length - maxRanges, '…')
  return `{${shown.join(',')}}`
}

const maxRanges = 4
