// The price of quantizing a tensor by each method: bits per value to the right, signal-to-noise ratio upwards. The line joins the methods
// that no other beats in both.
import type { Tensor } from '../model/index.js'
import { formatDims } from '../model/model.js'
import {
  contentTop,
  type Drawing,
  defaultSize,
  edge,
  faint,
  heading,
  ink,
  type PictureSize,
  rule,
  type Shape,
  text,
  textWidth,
} from './drawing.js'
import type { MeasuredMethods, MethodPoint } from './measure-methods.js'
import { categories } from './parts/colors.js'
import { label, ticksBetween } from './parts/ticks.js'
import { visibleText } from './parts/visible-text.js'

/** How a plot of methods is drawn. */
export interface MethodsOptions {
  readonly size?: PictureSize | undefined
}

const left = 70
const footer = 84

interface Placed {
  readonly point: MethodPoint
  readonly x: number
  readonly y: number
}

/** Draws bits per value against the signal-to-noise ratio of quantization methods. */
export function drawMethods(tensor: Tensor, measured: MeasuredMethods, options: MethodsOptions = {}): Drawing {
  const size = options.size ?? defaultSize
  const title = visibleText(tensor.name)
  const rows = `${measured.rows} rows of ${measured.columns}${measured.isSample ? ', a sample' : ''}`
  const subtitle = `${(tensor.encoding ?? tensor.dtype).id} ${formatDims(tensor)}: error of quantization methods on ${rows}`
  const shapes: Shape[] = heading(size, title, subtitle)
  const points = measured.points.filter(({ snr }) => snr !== null)
  const families = [...new Set(points.map(familyOf))]
  if (points.length === 0) shapes.push(text(left, contentTop, 'no method has an error to show', { color: faint }))
  else {
    const box = { x: left, y: contentTop + 8, width: size.width - left - 90, height: size.height - contentTop - footer }
    shapes.push(...plot(points, families, box))
    let x = box.x
    for (const [i, family] of families.entries()) {
      shapes.push({ kind: 'dot', x: x + 6, y: size.height - edge - 7, radius: 5, fill: categories[i]! })
      shapes.push(text(x + 18, size.height - edge - 14, family))
      x += 18 + textWidth(family, 2) + 24
    }
  }
  const list = points.map(
    ({ method, bitsPerWeight, snr }) => `${method} ${label(bitsPerWeight)} bits, ${label(snr!)} dB`,
  )
  return { ...size, title, description: `${subtitle}. ${list.join('; ')}`, shapes }
}

const familyOf = ({ method }: MethodPoint): string => method.replace(/\..*$/, '')

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function plot(points: readonly MethodPoint[], families: readonly string[], box: Box): Shape[] {
  const maxBits = Math.max(...points.map((each) => each.bitsPerWeight)) * 1.05
  const minBits = Math.max(0, Math.min(...points.map((each) => each.bitsPerWeight)) - 0.5)
  const levels = points.map((each) => each.snr!)
  const [low, high] = [Math.min(0, ...levels), Math.max(...levels) * 1.05 || 1]
  const xOf = (bits: number): number => box.x + ((bits - minBits) / (maxBits - minBits)) * box.width
  const yOf = (snr: number): number => box.y + box.height - ((snr - low) / (high - low)) * box.height
  const shapes: Shape[] = []
  for (const tick of ticksBetween(low, high, Math.min(8, Math.floor(box.height / 40)))) {
    shapes.push({
      kind: 'line',
      points: [
        [box.x, yOf(tick)],
        [box.x + box.width, yOf(tick)],
      ],
      color: rule,
    })
    shapes.push(text(box.x - 8, yOf(tick) - 7, label(tick), { anchor: 'end', color: faint }))
  }
  for (const tick of ticksBetween(minBits, maxBits, Math.min(8, Math.floor(box.width / 80)))) {
    shapes.push({
      kind: 'line',
      points: [
        [xOf(tick), box.y],
        [xOf(tick), box.y + box.height],
      ],
      color: rule,
    })
    shapes.push(text(xOf(tick), box.y + box.height + 8, label(tick), { anchor: 'middle', color: faint }))
  }
  shapes.push(text(box.x + box.width, box.y + box.height + 30, 'bits per value', { anchor: 'end' }))
  shapes.push(text(box.x + 8, box.y + 4, 'signal to noise, dB'))
  const placed = points.map((point) => ({
    point,
    x: Math.round(xOf(point.bitsPerWeight)),
    y: Math.round(yOf(point.snr!)),
  }))
  shapes.push({ kind: 'line', points: frontOf(placed).map(({ x, y }) => [x, y]), color: faint })
  for (const { point, x, y } of placed)
    shapes.push({ kind: 'dot', x, y, radius: 5, fill: categories[families.indexOf(familyOf(point))]! })
  return [...shapes, ...labels(placed)]
}

/** Those that no other beats in both, by bits. */
function frontOf(placed: readonly Placed[]): Placed[] {
  const front: Placed[] = []
  for (const each of placed.toSorted((a, b) => a.x - b.x || a.y - b.y))
    if (front.length === 0 || each.y < front.at(-1)!.y) front.push(each)
  return front
}

/** Each beside its dot, at the first of a few places where it covers neither a dot nor another label. */
function labels(placed: readonly Placed[]): Shape[] {
  const height = 16
  const taken: Box[] = placed.map(({ x, y }) => ({ x: x - 6, y: y - 6, width: 12, height: 12 }))
  const overlaps = (a: Box): boolean =>
    taken.some((b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height)
  return placed.map(({ point, x, y }) => {
    const name = point.method.replace(/^.*\./, '')
    const width = textWidth(name, 2)
    const places = [
      { x: x + 10, y: y - 7 },
      { x: x - 10 - width, y: y - 7 },
      { x: x + 4, y: y + 10 },
      { x: x + 4, y: y - 26 },
      { x: x - 4 - width, y: y + 10 },
      { x: x - 4 - width, y: y - 26 },
      { x: x + 10, y: y + 28 },
      { x: x + 10, y: y - 44 },
    ]
    const place = places.find((each) => !overlaps({ ...each, width, height })) ?? places[0]!
    taken.push({ ...place, width, height })
    return text(place.x, place.y, name, { color: ink })
  })
}
