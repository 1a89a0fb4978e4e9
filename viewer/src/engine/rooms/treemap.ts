// Where the bytes of a model are, as boxes: layers, in them blocks, in them tensors. Boxes too small to see are left out, so that a model
// of a million tensors has as many boxes as fit the screen.
import { type Box, type Model, modelTree, squarify, type Tensor, type TreeNode } from 'tare/kit'

export interface TreemapBox extends Box {
  readonly name: string
  readonly bytes: number
  /** 1: a layer, with room for its name above what is in it. */
  readonly depth: number
  readonly isLeaf: boolean
  /** Of a tensor. */
  readonly tensor?: { readonly name: string; readonly type: string; readonly shape: readonly number[] } | undefined
}

/** In pixels. */
const minArea = 24
const maxBoxes = 4000
const titleHeight = 16
const gap = 1

export function layOutTreemap(model: Model, width: number, height: number): TreemapBox[] {
  const boxes: TreemapBox[] = []
  const place = (given: TreeNode, box: Box, depth: number): void => {
    const node = unwrapped(given)
    if (boxes.length >= maxBoxes || box.width * box.height < minArea) return
    const { tensor, children } = node
    const isLeaf = children.length === 0
    if (depth > 0) boxes.push({ ...box, name: node.name, bytes: node.bytes, depth, isLeaf, tensor: factsOf(tensor) })
    if (isLeaf) return
    const inner = depth === 0 ? box : inside(box, depth)
    const places = squarify(
      children.map(({ bytes }) => bytes),
      inner,
    )
    for (const [i, child] of children.entries()) place(child, places[i]!, depth + 1)
  }
  place(modelTree(model), { x: 0, y: 0, width, height }, 0)
  return boxes
}

/** A group of one is that one, under both names. */
function unwrapped(node: TreeNode): TreeNode {
  const [only, ...others] = node.children
  return only?.tensor && others.length === 0 ? { ...only, name: `${node.name}.${only.name}` } : node
}

const factsOf = (tensor: Tensor | undefined): TreemapBox['tensor'] =>
  tensor && { name: tensor.name, type: (tensor.encoding ?? tensor.dtype).id, shape: tensor.shape }

/** Leaves room for a name where there is some. */
function inside({ x, y, width, height }: Box, depth: number): Box {
  const top = depth === 1 && width > 48 && height > 3 * titleHeight ? titleHeight : gap
  return { x: x + gap, y: y + top, width: Math.max(0, width - 2 * gap), height: Math.max(0, height - top - gap) }
}
