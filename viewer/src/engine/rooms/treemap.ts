// Where the bytes of a model are, as boxes: layers, in them blocks, in them tensors. What is too small to see is one box with what is around
// it, so that a model of a million tensors has as many boxes as fit the screen.
import { type Box, isTooFine, type Model, modelTreeSteps, squarify, type Tensor, type TreeNode } from 'tare/kit'

export interface TreemapBox extends Box {
  readonly name: string
  readonly bytes: number
  /** 1: a layer, with room for its name above what is in it. */
  readonly depth: number
  readonly isLeaf: boolean
  /** Of a tensor, or of the largest where many are one box. */
  readonly type: string
  readonly tensor?: { readonly name: string; readonly type: string; readonly shape: readonly number[] } | undefined
  /** Tensors that are shown as this one box, and a filter that leaves them in the table. */
  readonly many?: { readonly count: number; readonly path: string; readonly filter: string } | undefined
}

/** In pixels. */
const minArea = 24
const maxBoxes = 4000
const titleHeight = 16
const gap = 1

/** `pause` is awaited every few milliseconds while a large model is grouped. */
export async function layOutTreemap(
  model: Pick<Model, 'tensors'>,
  width: number,
  height: number,
  pause: () => Promise<void>,
): Promise<TreemapBox[]> {
  const steps = modelTreeSteps(model)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return placeBoxes(value, width, height)
    await pause()
  }
}

function placeBoxes(root: TreeNode, width: number, height: number): TreemapBox[] {
  const boxes: TreemapBox[] = []
  const place = (given: TreeNode, box: Box, depth: number, above: string): void => {
    const area = box.width * box.height
    if (boxes.length >= maxBoxes || area < minArea) return
    const isFine = depth > 0 && isTooFine(given, area, minArea)
    const node = isFine || depth === 0 ? given : unwrapped(given, above)
    const { name, bytes, tensor, top } = node
    const isLeaf = isFine || tensor !== undefined
    const path = above === '' ? name : `${above}.${name}`
    if (depth > 0) {
      const many = isFine
        ? {
            count: node.tensors,
            path: (top?.name ?? path).slice(0, path.length),
            filter: filterFor(path, top?.name ?? ''),
          }
        : undefined
      boxes.push({ ...box, name, bytes, depth, isLeaf, type: typeOf(top), tensor: factsOf(tensor), many })
    }
    if (isLeaf) return
    const { children } = node
    const inner = depth === 0 ? box : inside(box, depth)
    const places = squarify(
      children.map((child) => child.bytes),
      inner,
    )
    for (const [i, child] of children.entries()) place(child, places[i]!, depth + 1, path)
  }
  place(root, { x: 0, y: 0, width, height }, 0, '')
  return boxes
}

/** A group of one is that one, under all of its name that is not above. */
function unwrapped(node: TreeNode, above: string): TreeNode {
  const { tensors, tensor, top } = node
  if (tensors !== 1 || tensor || !top) return node
  const name = top.name.startsWith(`${above}.`) ? top.name.slice(above.length + 1) : top.name
  return { ...node, name, tensor: top }
}

const typeOf = (tensor: Tensor | undefined): string => (tensor ? (tensor.encoding ?? tensor.dtype).id : '')

const factsOf = (tensor: Tensor | undefined): TreemapBox['tensor'] =>
  tensor && { name: tensor.name, type: typeOf(tensor), shape: tensor.shape }

/** Names with this beginning; characters that mean something else there match any one character, and so does what stands for a slash. */
const filterFor = (path: string, name: string): string =>
  `${path.replace(name.includes('/') ? /[^\w-]/g : /[^\w.-]/g, '?')}*`

/** Leaves room for a name where there is some. */
function inside({ x, y, width, height }: Box, depth: number): Box {
  const top = depth === 1 && width > 48 && height > 3 * titleHeight ? titleHeight : gap
  return { x: x + gap, y: y + top, width: Math.max(0, width - 2 * gap), height: Math.max(0, height - top - gap) }
}
