// Tensor names as a tree: `blk.0.attn.weight` is a leaf four levels down. A group's row has the sums of what is below it. A leaf is only the
// index of its tensor, and rows are made while they are printed, so that the tree of a million tensors takes little more than their list.
import { countElements, type InspectedTensor, type Tensor } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatAmount, formatShape, formatSize, plural } from '../../console/format-values.js'
import type { RowSource } from '../../console/table.js'
import type { Tensors } from '../../input/tensors.js'

interface Group {
  groups: Map<string, Group> | undefined
  /** Indexes of the tensors directly in it. */
  leaves: number | number[] | undefined
  count: number
  parameters: number
  bytes: number
}

/** The rows from the top down, as one list for each of their properties. */
interface Lines {
  readonly depths: number[]
  /** Of a group its label; of a leaf how many segments of its name the groups above show already. */
  readonly labels: (string | number)[]
  /** A group, or the index of a tensor. */
  readonly shown: (Group | number)[]
}

/** Deeper names are not cut further: a hostile name of ten thousand dots must not become as many levels. */
const maxDepth = 24

const emptyGroup = (): Group => ({ groups: undefined, leaves: undefined, count: 0, parameters: 0, bytes: 0 })

/** Rows of name, type, shape, parameters and size, in file order, children indented under their group. */
export function treeRows(tensors: Tensors, rowOf: (tensor: Tensor, i: number) => InspectedTensor): RowSource {
  const root = emptyGroup()
  for (let i = 0; i < tensors.length; i++) insert(root, tensors[i]!, i)
  const lines: Lines = { depths: [], labels: [], shown: [] }
  list(root, 0, 0, lines)
  const { depths, labels, shown } = lines
  const row = (i: number): string[] => {
    if (i === shown.length) return groupRow('total', root)
    const indent = '  '.repeat(depths[i]!)
    const what = shown[i]!
    if (typeof what !== 'number') return groupRow(indent + escapeName(labels[i] as string), what)
    const tensor = tensors[what]!
    const label = segmentsOf(tensor)
      .slice(labels[i] as number)
      .join('.')
    return leafRow(indent + escapeName(label), rowOf(tensor, what))
  }
  return { count: shown.length + 1, row }
}

function insert(root: Group, tensor: Tensor, index: number): void {
  const segments = segmentsOf(tensor)
  const parameters = countElements(tensor.shape) ?? 0
  const bytes = tensor.data?.byteLength ?? 0
  let group = root
  for (let i = 0; ; i++) {
    group.count++
    group.parameters += parameters
    group.bytes += bytes
    if (i === segments.length - 1) break
    group.groups ??= new Map()
    const segment = segments[i]!
    const next = group.groups.get(segment) ?? emptyGroup()
    if (next.count === 0) group.groups.set(segment, next)
    group = next
  }
  if (group.leaves === undefined) group.leaves = index
  else if (typeof group.leaves === 'number') group.leaves = [group.leaves, index]
  else group.leaves.push(index)
}

function segmentsOf({ path, stat, name }: Tensor): string[] {
  const segments = path && path.length > 0 ? [...path] : name.split('.')
  if (path && stat !== undefined) segments[segments.length - 1] += `#${stat}`
  if (segments.length <= maxDepth) return segments
  return [...segments.slice(0, maxDepth - 1), segments.slice(maxDepth - 1).join('.')]
}

/** `level` is how many segments of the names the groups above have, `depth` how many rows they take. */
function list(group: Group, level: number, depth: number, lines: Lines): void {
  const push = (label: string | number, what: Group | number): void => {
    lines.depths.push(depth)
    lines.labels.push(label)
    lines.shown.push(what)
  }
  if (typeof group.leaves === 'number') push(level, group.leaves)
  else for (const leaf of group.leaves ?? []) push(level, leaf)
  for (const [first, child] of group.groups ?? []) {
    const { label, last, levels } = skipSingles(first, child)
    if (last.count === 1 && typeof last.leaves === 'number') push(level, last.leaves)
    else {
      push(label, last)
      list(last, level + levels, depth + 1, lines)
    }
  }
}

/** A group that holds nothing but one other group shares its row. */
function skipSingles(label: string, group: Group): { label: string; last: Group; levels: number } {
  const found = { label, last: group, levels: 1 }
  while (found.last.leaves === undefined && found.last.groups?.size === 1) {
    for (const [next, child] of found.last.groups) {
      found.label += `.${next}`
      found.last = child
    }
    found.levels++
  }
  return found
}

const groupRow = (name: string, { count, parameters, bytes }: Group): string[] => [
  name,
  plural(count, 'tensor'),
  '',
  formatAmount(parameters),
  formatSize(bytes),
]

function leafRow(name: string, { dtype, encoding, shape, bytes }: InspectedTensor): string[] {
  const size = bytes === null ? 'no data' : formatSize(bytes)
  return [name, encoding ?? dtype, formatShape(shape), formatAmount(countElements(shape.map(Number)) ?? 0), size]
}
