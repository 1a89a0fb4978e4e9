// The tensors of a model by layer and block, as their names tell: `model.layers.3.self_attn.q_proj.weight` is in layer `model.layers.3`,
// block `self_attn`; `blk.3.attn_q.weight` is in layer `blk.3`, block `attn`. A model can have a million tensors, of which a picture shows a
// few thousand: what is in a group becomes nodes when it is first looked at.
import type { Model, Tensor } from '../../model/index.js'

export interface TreeNode {
  /** The name below the node above. */
  readonly name: string
  readonly bytes: number
  /** Tensors in it. */
  readonly tensors: number
  /** The bytes of the largest child; those of itself where there are none. */
  readonly largest: number
  /** In descending order of size. */
  readonly children: readonly TreeNode[]
  readonly tensor?: Tensor | undefined
  /** Of the largest child, the largest child, and so on down to a tensor. */
  readonly top?: Tensor | undefined
}

export function modelTree(model: Pick<Model, 'tensors'>): TreeNode {
  const steps = modelTreeSteps(model)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Tensors between two steps: a few milliseconds. */
const perStep = 16_384

/** The same with pauses, for programs that have something else to do meanwhile. */
export function* modelTreeSteps({ tensors }: Pick<Model, 'tensors'>): Generator<void, TreeNode, void> {
  const layers = new Map<string, Map<string, Group>>()
  for (const [index, tensor] of tensors.entries()) {
    if (index % perStep === perStep - 1) yield
    const { layer, block } = placeOf(tensor.name)
    const blocks = getOrAdd(layers, layer, () => new Map<string, Group>())
    const group = getOrAdd(blocks, block, emptyGroup)
    const bytes = tensor.data?.byteLength ?? 0
    group.indexes.push(index)
    group.bytes += bytes
    if (bytes <= group.largest && group.top) continue
    group.largest = bytes
    group.top = tensor
  }
  return nodeOf(
    '',
    [...layers].map(([layer, blocks]) => layerOf(layer, blocks, tensors)),
  )
}

/** The tensors of a block. */
interface Group {
  readonly indexes: number[]
  bytes: number
  largest: number
  top?: Tensor | undefined
}

const emptyGroup = (): Group => ({ indexes: [], bytes: 0, largest: 0 })

function getOrAdd<V>(map: Map<string, V>, key: string, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

/** Tensors of no block stand beside the blocks. */
function layerOf(name: string, blocks: ReadonlyMap<string, Group>, tensors: readonly Tensor[]): TreeNode {
  let [bytes, count, largest] = [0, 0, 0]
  let top: Tensor | undefined
  for (const [block, group] of blocks) {
    bytes += group.bytes
    count += group.indexes.length
    const size = block === '' ? group.largest : group.bytes
    if (size <= largest && top) continue
    largest = size
    top = group.top
  }
  return lazyNode({ name, bytes, tensors: count, largest, top }, () =>
    [...blocks].flatMap(([block, group]) => {
      const leaves = (): TreeNode[] => group.indexes.map((index) => leafOf(tensors[index]!))
      if (block === '') return leaves()
      const { bytes, largest, top, indexes } = group
      return lazyNode({ name: block, bytes, tensors: indexes.length, largest, top }, leaves)
    }),
  )
}

const noChildren: readonly TreeNode[] = []

function leafOf(tensor: Tensor): TreeNode {
  const bytes = tensor.data?.byteLength ?? 0
  return {
    name: placeOf(tensor.name).rest,
    bytes,
    tensors: 1,
    largest: bytes,
    children: noChildren,
    tensor,
    top: tensor,
  }
}

function lazyNode(facts: Omit<TreeNode, 'children'>, make: () => TreeNode[]): TreeNode {
  let made: readonly TreeNode[] | undefined
  return {
    ...facts,
    get children() {
      made ??= make().sort(bySize)
      return made
    },
  }
}

const bySize = (a: TreeNode, b: TreeNode): number => b.bytes - a.bytes

/** Is even the largest child too small to be seen where the node has this area? */
export const isTooFine = ({ tensor, bytes, largest }: TreeNode, area: number, minArea: number): boolean =>
  !tensor && bytes > 0 && (area * largest) / bytes < minArea

function nodeOf(name: string, given: readonly TreeNode[]): TreeNode {
  const children = given.toSorted(bySize)
  const sum = (key: 'bytes' | 'tensors'): number => children.reduce((total, child) => total + child[key], 0)
  const [first] = children
  return { name, bytes: sum('bytes'), tensors: sum('tensors'), largest: first?.bytes ?? 0, children, top: first?.top }
}

const isSeparator = (code: number): boolean => code === 46 || code === 47

/** From a place to the next dot or slash, or the end. */
function endOfSegment(name: string, from: number): number {
  let at = from
  while (at < name.length && !isSeparator(name.charCodeAt(at))) at++
  return at
}

function isNumber(name: string, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (name.charCodeAt(at) < 48 || name.charCodeAt(at) > 57) return false
  return end > from
}

const dotted = (name: string): string => (name.includes('/') ? name.replaceAll('/', '.') : name)

/** Tensors outside of layers are grouped by the first part of their name. */
export function placeOf(name: string): { readonly layer: string; readonly block: string; readonly rest: string } {
  // A layer ends in a number that something follows.
  let [start, end] = [0, endOfSegment(name, 0)]
  while (end < name.length && !isNumber(name, start, end)) [start, end] = [end + 1, endOfSegment(name, end + 1)]
  if (end >= name.length) {
    const first = name.slice(0, endOfSegment(name, 0))
    return { layer: first, block: '', rest: dotted(name.slice(first.length + 1)) || first }
  }
  const layer = dotted(name.slice(0, end))
  const inside = dotted(name.slice(end + 1))
  const first = inside.slice(0, endOfSegment(inside, 0))
  const isDeep = endOfSegment(inside, first.length + 1) < inside.length
  if (isDeep) return { layer, block: first, rest: inside.slice(first.length + 1) }
  const cut = first.indexOf('_')
  return { layer, block: cut > 0 ? first.slice(0, cut) : '', rest: inside }
}
