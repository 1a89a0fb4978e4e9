// The columns of the table: what each shows and what it sorts by.
import type { ComponentChildren } from 'preact'
import type { TypeColor } from '../../colors/types.js'
import { hasFigures } from '../../engine/rooms/table/figures.js'
import type { SortKey } from '../../engine/rooms/table/order.js'
import type { TableRow } from '../../engine/rooms/tensors.js'
import { shapeLabel, sizeLabel, typeLabel, valueText } from '../../parts/format.js'

export interface CellContext {
  readonly maxBytes: number
  colorOf(type: string): TypeColor
}

export interface Column {
  readonly id: string
  readonly title: string
  readonly sort?: SortKey | undefined
  /** How early it gives way on narrow screens: 0 stays. */
  readonly rank: number
  readonly isNumber?: boolean | undefined
  cell(row: TableRow, context: CellContext): ComponentChildren
}

type Figure = 'min' | 'mean' | 'std' | 'max'

const figure = (id: Figure, title: string, rank: number): Column => ({
  id,
  title,
  sort: id,
  rank,
  isNumber: true,
  cell: ({ figures }) => (hasFigures(figures) ? valueText(figures[id]) : ''),
})

/** Names of the figures that are odd: values that are not numbers, or nothing but zeros. */
function oddities({ figures }: TableRow): string {
  if (!hasFigures(figures)) return ''
  const { nan, infinite, zero, count } = figures
  return [
    nan > 0 && `${nan} NaN`,
    infinite > 0 && `${infinite} ∞`,
    zero > 0 && `${Number(((100 * zero) / count).toPrecision(2))} % zeros`,
  ]
    .filter(Boolean)
    .join(' · ')
}

export const columns: readonly Column[] = [
  {
    id: 'type',
    title: 'Type',
    sort: 'type',
    rank: 0,
    cell: ({ type }, { colorOf }) => (
      <>
        <i class="swatch" title={typeLabel(type)} style={{ background: colorOf(type).paper }} />
        <span class="label">{typeLabel(type)}</span>
      </>
    ),
  },
  {
    id: 'shape',
    title: 'Shape',
    sort: 'values',
    rank: 1,
    isNumber: true,
    cell: ({ shape }) => <span title={shapeLabel(shape)}>{shapeLabel(shape)}</span>,
  },
  {
    id: 'size',
    title: 'Size',
    sort: 'size',
    rank: 0,
    isNumber: true,
    cell: ({ bytes }, { maxBytes }) => (
      <>
        <i class="size-bar" style={{ width: `${maxBytes > 0 ? (100 * bytes) / maxBytes : 0}%` }} />
        <span>{sizeLabel(bytes)}</span>
      </>
    ),
  },
  figure('min', 'Min', 3),
  figure('mean', 'Mean', 4),
  figure('std', 'Deviation', 2),
  figure('max', 'Max', 3),
  {
    id: 'values',
    title: 'Values',
    rank: 2,
    cell: ({ figures }) => (hasFigures(figures) ? <Sparkline counts={figures.histogram} /> : ''),
  },
  { id: 'odd', title: 'Special', sort: 'nan', rank: 3, cell: oddities },
]

/** A histogram the height of a line, on a square-root scale: tails stay visible. */
function Sparkline({ counts }: { readonly counts: readonly number[] }) {
  const max = Math.sqrt(Math.max(1, ...counts))
  const [width, height] = [96, 18]
  const step = width / Math.max(1, counts.length)
  const path = counts
    .map((count, i) => {
      const bar = (height * Math.sqrt(count)) / max
      return `M${i * step} ${height}v${-bar}h${step - 0.5}v${bar}z`
    })
    .join('')
  return (
    <svg class="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
