// The table as a tree of the parts of names: only what is open has rows. Groups with a single group in them are shown as one.
import type { Model } from 'tare/kit'
import { naturalOrder } from './name-order.js'

export interface TreeRow {
  readonly depth: number
  /** Of a tensor. */
  readonly index?: number
  /** Of a group: where it is, what it is called there, and what is in it. */
  readonly path?: string
  readonly label: string
  readonly isOpen?: boolean
  readonly tensors?: number
  readonly bytes?: number
}

interface Group {
  readonly groups: Map<string, Group>
  readonly leaves: { readonly label: string; readonly index: number }[]
  tensors: number
  bytes: number
}

const emptyGroup = (): Group => ({ groups: new Map(), leaves: [], tensors: 0, bytes: 0 })

export function buildTree(model: Model, chosen: Uint32Array): Group {
  const root = emptyGroup()
  for (const index of chosen) {
    const { name, path, data } = model.tensors[index]!
    const segments = path ? path.map((part, i) => (i === 0 ? part : `.${part}`)) : partsOf(name)
    const bytes = data?.byteLength ?? 0
    let group = root
    group.tensors++
    group.bytes += bytes
    for (const segment of segments.slice(0, -1)) {
      let next = group.groups.get(segment)
      if (!next) {
        next = emptyGroup()
        group.groups.set(segment, next)
      }
      group = next
      group.tensors++
      group.bytes += bytes
    }
    group.leaves.push({ label: labelOf(segments.at(-1) ?? name, group === root), index })
  }
  return root
}

/** Each but the first with the dot or slash before it, since a name can have both. */
const partsOf = (name: string): string[] => name.split(name.includes('/') ? /(?!^)(?=[./])/ : /(?!^)(?=\.)/)

/** Below a group, what stands between it and its parts goes without saying. */
const labelOf = (part: string, isTop: boolean): string => (isTop || part.length < 2 ? part : part.replace(/^[./]/, ''))

/** With at most this many groups at the top, they are open at first. */
const fewGroups = 4

/** Top to bottom; groups before the tensors beside them. `toggled` are the groups that are not as they were at first. */
export function treeRows(root: Group, toggled: ReadonlySet<string>, isAllOpen: boolean): TreeRow[] {
  const rows: TreeRow[] = []
  const visit = (group: Group, path: string, depth: number): void => {
    for (const name of [...group.groups.keys()].sort(naturalOrder)) {
      const { tail, inner } = joined(group.groups.get(name)!)
      const label = `${labelOf(name, depth === 0)}${tail}`
      const place = `${path}${name}${tail}`
      const isOpen = isAllOpen || toggled.has(place) !== (depth === 0 && root.groups.size <= fewGroups)
      rows.push({ depth, path: place, label, isOpen, tensors: inner.tensors, bytes: inner.bytes })
      if (isOpen) visit(inner, place, depth + 1)
    }
    for (const { label, index } of group.leaves) rows.push({ depth, index, label })
  }
  visit(root, '', 0)
  return rows
}

/** Follows groups that hold nothing but one group. */
function joined(group: Group): { readonly tail: string; readonly inner: Group } {
  let [inner, tail] = [group, '']
  while (inner.leaves.length === 0 && inner.groups.size === 1) {
    const [[part, next]] = [...inner.groups] as [[string, Group]]
    ;[inner, tail] = [next, `${tail}${part}`]
  }
  return { tail, inner }
}
