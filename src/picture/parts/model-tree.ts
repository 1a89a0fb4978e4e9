// The tensors of a model by layer and block, as their names tell: `model.layers.3.self_attn.q_proj.weight` is in layer `model.layers.3`,
// block `self_attn`; `blk.3.attn_q.weight` is in layer `blk.3`, block `attn`.
import type { Model, Tensor } from '../../model/index.js'

export interface TreeNode {
  /** The name below the node above. */
  readonly name: string
  readonly bytes: number
  /** In descending order of size. */
  readonly children: readonly TreeNode[]
  readonly tensor?: Tensor | undefined
}

export function modelTree(model: Pick<Model, 'tensors'>): TreeNode {
  const layers = new Map<string, Map<string, TreeNode[]>>()
  for (const tensor of model.tensors) {
    const { layer, block, rest } = placeOf(tensor.name)
    const blocks = getOrAdd(layers, layer, () => new Map<string, TreeNode[]>())
    const leaf = { name: rest, bytes: tensor.data?.byteLength ?? 0, children: [], tensor }
    getOrAdd(blocks, block, () => []).push(leaf)
  }
  const children = [...layers].map(([layer, blocks]) =>
    nodeOf(
      layer,
      [...blocks].flatMap(([block, leaves]) => (block === '' ? leaves : [nodeOf(block, leaves)])),
    ),
  )
  return nodeOf('', children)
}

function getOrAdd<V>(map: Map<string, V>, key: string, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

function nodeOf(name: string, children: readonly TreeNode[]): TreeNode {
  const bytes = children.reduce((sum, child) => sum + child.bytes, 0)
  return { name, bytes, children: children.toSorted((a, b) => b.bytes - a.bytes) }
}

/** Tensors outside of layers are grouped by the first part of their name. */
export function placeOf(name: string): { readonly layer: string; readonly block: string; readonly rest: string } {
  const segments = name.split(/[./]/)
  const number = segments.findIndex((segment) => /^\d+$/.test(segment))
  if (number < 0 || number === segments.length - 1) {
    const [first = '', ...others] = segments
    return { layer: first, block: '', rest: others.join('.') || first }
  }
  const layer = segments.slice(0, number + 1).join('.')
  const inside = segments.slice(number + 1)
  const [first = '', ...others] = inside
  if (inside.length > 2) return { layer, block: first, rest: others.join('.') }
  const cut = first.indexOf('_')
  return { layer, block: cut > 0 ? first.slice(0, cut) : '', rest: inside.join('.') }
}
