// The distribution of the values of a tensor, from its statistics.
import type { TensorStats } from '../inspect/stats.js'
import type { Tensor } from '../model/index.js'
import { formatDims } from '../model/model.js'
import {
  contentTop,
  type Drawing,
  defaultSize,
  edge,
  faint,
  heading,
  type PictureSize,
  rule,
  type Shape,
  text,
} from './drawing.js'
import { categories } from './parts/colors.js'
import { countLabel, label, ticksBetween } from './parts/ticks.js'
import { visibleText } from './parts/visible-text.js'

/** How a histogram is drawn. */
export interface HistogramOptions {
  readonly size?: PictureSize | undefined
  /** Counts on a logarithmic axis, which shows outliers. */
  readonly isLog?: boolean | undefined
}

const left = 110
const footer = 40

/** Draws how often values occur. */
export function drawHistogram(tensor: Tensor, stats: TensorStats, options: HistogramOptions = {}): Drawing {
  const size = options.size ?? defaultSize
  const { histogram, min, max, mean, std, median, nan, posInf, negInf, zero } = stats
  const title = visibleText(tensor.name)
  const figures = [
    `${(tensor.encoding ?? tensor.dtype).id} ${formatDims(tensor)}`,
    ...(mean === null || std === null
      ? ['no finite values']
      : [`mean ${label(mean)}`, `std ${label(std)}`, `median ${label(median!)}`]),
    ...(min === null || max === null ? [] : [`${label(min)} to ${label(max)}`]),
    ...(zero > 0 ? [`${countLabel(zero)} zero`] : []),
    ...(nan + posInf + negInf > 0 ? [`${countLabel(nan + posInf + negInf)} not finite`] : []),
  ]
  const subtitle = figures.join(' · ')
  const shapes: Shape[] = heading(size, title, subtitle)
  const [first, last] = [histogram[0], histogram.at(-1)]
  if (first && last) {
    const box = {
      x: left,
      y: contentTop,
      width: size.width - left - 2 * edge,
      height: size.height - contentTop - footer,
    }
    shapes.push(...bars(stats, box, options.isLog ?? false))
    const [low, high] = [first.low, last.high]
    const span = high - low || 1
    for (const tick of ticksBetween(low, high, Math.floor(box.width / 130))) {
      const x = box.x + ((tick - low) / span) * box.width
      shapes.push({
        kind: 'line',
        points: [
          [x, box.y + box.height],
          [x, box.y + box.height + 5],
        ],
        color: faint,
      })
      shapes.push(text(x, box.y + box.height + 10, label(tick), { anchor: 'middle', color: faint }))
    }
  }
  return { ...size, title, description: `Histogram of ${title}: ${subtitle}`, shapes }
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

function bars({ histogram }: TensorStats, box: Box, isLog: boolean): Shape[] {
  const most = histogram.reduce((max, { count }) => Math.max(max, count), 1)
  const heightOf = (count: number): number =>
    (isLog ? Math.log10(count + 1) / Math.log10(most + 1) : count / most) * box.height
  const shapes: Shape[] = []
  const powers = Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, power) => 10 ** power)
  for (const tick of isLog ? powers : ticksBetween(0, most, 6)) {
    const y = box.y + box.height - heightOf(tick)
    shapes.push({
      kind: 'line',
      points: [
        [box.x, y],
        [box.x + box.width, y],
      ],
      color: rule,
    })
    shapes.push(text(box.x - 8, y - 7, label(tick), { anchor: 'end', color: faint }))
  }
  const width = box.width / histogram.length
  for (const [i, { count }] of histogram.entries()) {
    if (count === 0) continue
    // Even a single value is seen.
    const height = Math.max(1, heightOf(count))
    shapes.push({
      kind: 'rect',
      x: box.x + i * width,
      y: box.y + box.height - height,
      width: Math.max(1, width - (width > 4 ? 1 : 0)),
      height,
      fill: categories[0]!,
    })
  }
  shapes.push({
    kind: 'line',
    points: [
      [box.x, box.y + box.height],
      [box.x + box.width, box.y + box.height],
    ],
    color: faint,
  })
  return shapes
}
