// Tensor names as a tree: `blk.0.attn.weight` is a leaf four levels down. A group's row has the sums of what is below it.
import { countElements, type InspectedTensor } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatAmount, formatShape, formatSize, plural } from '../../console/format-values.js'

interface Leaf {
  readonly label: string
  readonly tensor: InspectedTensor
}

interface Group {
  readonly groups: Map<string, Group>
  readonly leaves: Leaf[]
  count: number
  parameters: number
  bytes: number
}

/** Deeper names are not cut further: a hostile name of ten thousand dots must not become as many levels. */
const maxDepth = 24

const emptyGroup = (): Group => ({ groups: new Map(), leaves: [], count: 0, parameters: 0, bytes: 0 })

/** Rows of name, type, shape, parameters and size, in file order, children indented under their group. */
export function treeRows(tensors: readonly InspectedTensor[]): string[][] {
  const root = emptyGroup()
  for (const tensor of tensors) insert(root, tensor)
  const rows: string[][] = []
  list(root, '', rows)
  rows.push(['total', plural(root.count, 'tensor'), '', formatAmount(root.parameters), formatSize(root.bytes)])
  return rows
}

function insert(root: Group, tensor: InspectedTensor): void {
  const segments = segmentsOf(tensor)
  const label = segments.pop()!
  let group = root
  add(group, tensor)
  for (const segment of segments) {
    let next = group.groups.get(segment)
    if (!next) {
      next = emptyGroup()
      group.groups.set(segment, next)
    }
    group = next
    add(group, tensor)
  }
  group.leaves.push({ label, tensor })
}

function segmentsOf({ path, stat, name }: InspectedTensor): string[] {
  const segments = path && path.length > 0 ? [...path] : name.split('.')
  if (path && stat !== undefined) segments[segments.length - 1] += `#${stat}`
  if (segments.length <= maxDepth) return segments
  return [...segments.slice(0, maxDepth - 1), segments.slice(maxDepth - 1).join('.')]
}

function add(group: Group, tensor: InspectedTensor): void {
  group.count++
  group.parameters += parametersOf(tensor)
  group.bytes += tensor.bytes ?? 0
}

function list(group: Group, indent: string, rows: string[][]): void {
  for (const leaf of group.leaves) rows.push(leafRow(indent, leaf))
  for (const [label, child] of group.groups) {
    const [joined, last] = skipSingles(label, child)
    const [only] = last.leaves
    if (only && last.count === 1) rows.push(leafRow(indent, { ...only, label: `${joined}.${only.label}` }))
    else {
      const sums = ['', formatAmount(last.parameters), formatSize(last.bytes)]
      rows.push([indent + escapeName(joined), plural(last.count, 'tensor'), ...sums])
      list(last, `${indent}  `, rows)
    }
  }
}

const parametersOf = ({ shape }: InspectedTensor): number => countElements(shape.map(Number)) ?? 0

function leafRow(indent: string, { label, tensor }: Leaf): string[] {
  const { dtype, encoding, shape, bytes } = tensor
  const size = bytes === null ? 'no data' : formatSize(bytes)
  const parameters = formatAmount(parametersOf(tensor))
  return [indent + escapeName(label), encoding ?? dtype, formatShape(shape), parameters, size]
}

/** A group that holds nothing but one other group shares its row. */
function skipSingles(label: string, group: Group): [string, Group] {
  let joined = label
  let last = group
  while (last.leaves.length === 0 && last.groups.size === 1) {
    for (const [next, child] of last.groups) {
      joined += `.${next}`
      last = child
    }
  }
  return [joined, last]
}
