// Where the bytes of a model are: layers, in them blocks, in them tensors, each with an area in proportion to its bytes and the colour of its
// element type.
import type { Model } from '../model/index.js'
import {
  advance,
  type Color,
  contentTop,
  type Drawing,
  defaultSize,
  edge,
  faint,
  fitText,
  heading,
  lineHeight,
  type PictureSize,
  paper,
  type Shape,
  text,
  textWidth,
} from './drawing.js'
import { categories, inkOn } from './parts/colors.js'
import { isTooFine, modelTree, type TreeNode } from './parts/model-tree.js'
import { type Box, squarify } from './parts/squarify.js'
import { countLabel, sizeLabel } from './parts/ticks.js'
import { visibleText } from './parts/visible-text.js'

/** How a treemap is drawn. */
export interface TreemapOptions {
  readonly size?: PictureSize | undefined
  /** Default: the name of the model's file. */
  readonly title?: string | undefined
}

const legendHeight = 36
/** Boxes below this area, in pixels, are drawn with the one around them. */
const minArea = 6

/** Draws layers, blocks and tensors with areas in proportion to their bytes. */
export function drawTreemap(model: Model, options: TreemapOptions = {}): Drawing {
  const size = options.size ?? defaultSize
  const root = modelTree(model)
  const types = bytesByType(model)
  const colorOf = new Map([...types.keys()].map((id, i) => [id, categories[Math.min(i, categories.length - 1)]!]))
  const title = visibleText(options.title ?? model.files[0]?.name.replace(/^.*[/\\]/, '') ?? model.format)
  const subtitle = `${countLabel(model.tensors.length)} tensors, ${sizeLabel(root.bytes)}; area is bytes, colour is the element type`
  const shapes: Shape[] = heading(size, title, subtitle)
  const box: Box = {
    x: edge,
    y: contentTop,
    width: size.width - 2 * edge,
    height: size.height - contentTop - legendHeight - edge,
  }
  if (root.bytes === 0) shapes.push(text(edge, contentTop, 'no data', { color: faint }))
  else drawChildren(root, box, 0, colorOf, shapes)
  shapes.push(...legend(types, colorOf, root.bytes, size))
  const share = [...types].map(([id, bytes]) => `${id} ${percent(bytes, root.bytes)}`).join(', ')
  return { ...size, title, description: `Treemap of ${title}: ${subtitle}. ${share}`, shapes }
}

const typeOf = ({ top }: TreeNode): string => (top ? (top.encoding ?? top.dtype).id : '')

/** Most bytes first. */
function bytesByType({ tensors }: Model): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const tensor of tensors) {
    const { id } = tensor.encoding ?? tensor.dtype
    sums.set(id, (sums.get(id) ?? 0) + (tensor.data?.byteLength ?? 0))
  }
  return new Map([...sums].sort((a, b) => b[1] - a[1]))
}

/** Room for the name of a layer or block, where its box is large enough. */
const labelRoom = [16, 12] as const

function drawChildren(
  node: TreeNode,
  box: Box,
  depth: number,
  colorOf: ReadonlyMap<string, Color>,
  shapes: Shape[],
): void {
  const boxes = squarify(
    node.children.map((child) => child.bytes),
    box,
  )
  for (const [i, child] of node.children.entries()) {
    const inner = boxes[i]!
    if (inner.width * inner.height < minArea) continue
    const color = colorOf.get(typeOf(child)) ?? faint
    const name = visibleText(child.name)
    if (isTooFine(child, inner.width * inner.height, minArea)) drawLeaf(child, name, inner, color, shapes)
    else if (child.children.length === 0) drawLeaf(child, name, inner, color, shapes)
    else if (child.children.length === 1 && child.children[0]!.tensor)
      drawLeaf(child.children[0]!, joined(name, visibleText(child.children[0]!.name)), inner, color, shapes)
    else if (inner.width < 8 || inner.height < 8) shapes.push({ kind: 'rect', ...inner, fill: color, border: paper })
    else drawGroup(child, name, inner, depth, colorOf, shapes)
  }
}

const joined = (outer: string, inner: string): string => (outer === inner ? outer : `${outer}.${inner}`)

const groupFill: readonly Color[] = [
  [60, 64, 67],
  [128, 134, 139],
]

function drawGroup(
  node: TreeNode,
  name: string,
  box: Box,
  depth: number,
  colorOf: ReadonlyMap<string, Color>,
  shapes: Shape[],
): void {
  const fill = groupFill[Math.min(depth, 1)]!
  shapes.push({ kind: 'rect', ...box, fill, border: paper })
  const shown = fitText(name, box.width - 8, 1)
  const top = shown !== '' && box.height > 3 * labelRoom[1] && box.width > 30 ? labelRoom[Math.min(depth, 1)]! : 2
  if (top > 2)
    shapes.push(text(box.x + 4, box.y + 3 + (top === labelRoom[0] ? 2 : 0), shown, { size: 1, color: paper }))
  const inside = { x: box.x + 2, y: box.y + top, width: box.width - 4, height: box.height - top - 2 }
  drawChildren(node, inside, depth + 1, colorOf, shapes)
}

function drawLeaf(node: TreeNode, name: string, box: Box, fill: Color, shapes: Shape[]): void {
  const isWide = box.width > 6 && box.height > 6
  shapes.push({ kind: 'rect', ...box, fill, border: isWide ? paper : undefined })
  const size = box.height >= 60 && textWidth(name, 2) <= box.width - 12 ? 2 : 1
  // Most names end in the same word, which is the first thing to do without.
  const short = textWidth(name, size) > box.width - 8 ? name.replace(/\.weight$/, '') : name
  const shown = fitText(short, box.width - 8, size)
  if ([...shown].length < Math.min(4, name.length) || box.height < lineHeight + 6) return
  const color = inkOn(fill)
  shapes.push(text(box.x + 5, box.y + 5, shown, { size, color }))
  const bytes = sizeLabel(node.bytes)
  if (box.height >= (2 * size + 1) * lineHeight + 4 && textWidth(bytes, size) <= box.width - 8)
    shapes.push(text(box.x + 5, box.y + 5 + (lineHeight + 2) * size, bytes, { size, color }))
}

function legend(
  types: ReadonlyMap<string, number>,
  colorOf: ReadonlyMap<string, Color>,
  total: number,
  size: PictureSize,
): Shape[] {
  const y = size.height - legendHeight
  const shapes: Shape[] = []
  let x = edge
  for (const [id, bytes] of types) {
    const label = `${visibleText(id)} ${percent(bytes, total)}`
    const width = 24 + textWidth(label, 2) + 2 * advance
    if (x + width > size.width - edge) break
    shapes.push({ kind: 'rect', x, y, width: 16, height: 16, fill: colorOf.get(id)! })
    shapes.push(text(x + 24, y + 1, label))
    x += width + 12
  }
  return shapes
}

function percent(bytes: number, total: number): string {
  const share = total === 0 ? 0 : (100 * bytes) / total
  return share > 0 && share < 0.1 ? '<0.1%' : `${Number(share.toFixed(1))}%`
}
