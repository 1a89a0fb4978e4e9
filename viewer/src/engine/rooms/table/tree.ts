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
    const segments = path ?? (name.includes('/') ? name.split(/[./]/) : name.split('.'))
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
    group.leaves.push({ label: segments.at(-1) ?? name, index })
  }
  return root
}

/** With at most this many groups at the top, they are open at first. */
const fewGroups = 4

/** Top to bottom; groups before the tensors beside them. `toggled` are the groups that are not as they were at first. */
export function treeRows(root: Group, toggled: ReadonlySet<string>, isAllOpen: boolean): TreeRow[] {
  const rows: TreeRow[] = []
  const visit = (group: Group, path: string, depth: number): void => {
    for (const name of [...group.groups.keys()].sort(naturalOrder)) {
      const {
        label,
        path: place,
        inner,
      } = joined(group.groups.get(name)!, name, path === '' ? name : `${path}.${name}`)
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
function joined(group: Group, label: string, path: string): { label: string; path: string; inner: Group } {
  let [at, name, place] = [group, label, path]
  while (at.leaves.length === 0 && at.groups.size === 1) {
    const [[next, inner]] = [...at.groups] as [[string, Group]]
    ;[at, name, place] = [inner, `${name}.${next}`, `${place}.${next}`]
  }
  return { label: name, path: place, inner: at }
}
