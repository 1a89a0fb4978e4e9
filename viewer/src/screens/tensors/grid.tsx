// The rows that are on the screen, in a grid that keyboards and screen readers know.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../app/keys.js'
import type { ScreenProps } from '../../app/screens.js'
import { typeColors } from '../../colors/types.js'
import type { SortKey } from '../../engine/rooms/table/order.js'
import type { ShownRow, TablePage, TableView } from '../../engine/rooms/tensors.js'
import { isAborted, priorities } from '../../engine/wire.js'
import { useAnswer } from '../../parts/use-answer.js'
import { useSize } from '../../parts/use-size.js'
import { scrollToRow, visibleRows } from '../../parts/virtual-rows.js'
import { goTo } from '../../state/location.js'
import { columns } from './columns.js'
import { computeFigures, figuresVersion, knownFigures } from './figures.js'
import { type GridActions, gridKeys } from './grid-keys.js'
import { Row } from './row.js'
import { toggleSelected } from './selection.js'

/** On telephones a row has some lines for its name, and room for a finger. */
const heightFor = (width: number): number => (width <= 560 ? 48 : 30)
/** Rows are asked for in steps, so that scrolling by a row asks for nothing. */
const step = 64
/** Elements are used again for the rows that come into view. */
const minPool = 64

interface GridProps extends ScreenProps {
  readonly view: TableView
  onSort(by: SortKey): void
  onToggle(path: string): void
  onSummary(page: TablePage): void
}

export function Grid({ model, view, onSort, onToggle, onSummary }: GridProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const size = useSize(scroller)
  const [scrollTop, setScrollTop] = useState(0)
  const [at, setAt] = useState(0)
  const [count, setCount] = useState(model.head.tensors)
  const rowHeight = heightFor(size?.width ?? 1000)
  const geometry = { count, rowHeight, viewHeight: size?.height ?? 600 }
  const { first, end, top, height } = visibleRows(geometry, scrollTop)
  const from = Math.floor(first / step) * step
  const to = Math.ceil(Math.max(end, 1) / step) * step
  const version = figuresVersion.value
  const isByFigure = !['file', 'name', 'type', 'values', 'size'].includes(view.sort.by) || /[<>=]/.test(view.filter)
  const asked = { model: model.id, view, from, to, ...(isByFigure && { version }) }
  const { answer: page, isLoading } = useAnswer('table', asked, { priority: priorities.view })
  const colorOf = useMemo(() => typeColors(model.head.types), [model.head])

  useEffect(() => {
    if (!page) return
    setCount(page.count)
    onSummary(page)
  }, [page])
  // Another view starts at its top.
  const viewKey = JSON.stringify([view.filter, view.sort, view.isTree])
  useLayoutEffect(() => {
    setAt(0)
    if (scroller.current) scroller.current.scrollTop = 0
  }, [viewKey])
  useEffect(() => {
    if (!page) return
    const unknown = page.rows
      .slice(Math.max(0, first - page.from), Math.max(0, end - page.from))
      .flatMap(({ tensor }) => (tensor && !tensor.figures && !knownFigures(model.id, tensor.index) ? tensor.index : []))
    if (unknown.length === 0) return
    const abort = new AbortController()
    const timer = setTimeout(() => {
      computeFigures(model.id, unknown, abort.signal).catch((error: unknown) => {
        if (!isAborted(error)) throw error
      })
    }, 150)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [page, first, end])

  const rowAt = (index: number): ShownRow | undefined => (page ? page.rows[index - page.from] : undefined)
  const actions: GridActions = {
    count,
    pageRows: Math.max(1, Math.floor(geometry.viewHeight / rowHeight) - 1),
    at,
    row: rowAt(at),
    moveTo(row) {
      const next = Math.max(0, Math.min(count - 1, row))
      setAt(next)
      const element = scroller.current
      if (!element) return
      element.scrollTop = scrollToRow(geometry, element.scrollTop, next)
      element.focus({ preventScroll: true })
    },
    focus: setAt,
    open: (name) => goTo('tensor', name),
    toggle: onToggle,
    select: (tensor) => toggleSelected(model.id, tensor.index, tensor),
  }
  const latest = useRef(actions)
  latest.current = actions
  useKeys(
    'Tensors',
    useMemo(() => gridKeys(() => latest.current), []),
  )
  // What a row gets stays the same while it is in view, so that scrolling renders only the rows that are new.
  const now = useMemo(() => () => latest.current, [])
  const maxBytes = page?.maxBytes ?? 0
  const context = useMemo(() => ({ maxBytes, colorOf }), [maxBytes, colorOf])
  const base = first - (first % step)
  const shift = top - (first - base) * rowHeight
  const pool = Math.max(minPool, 2 ** Math.ceil(Math.log2(Math.max(1, end - first))))
  const rows = page ? Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i) : []
  return (
    <div class="grid-room">
      <div
        class={`grid ${view.isTree ? 'tree' : ''}`}
        role={view.isTree ? 'treegrid' : 'grid'}
        aria-label="Tensors"
        aria-rowcount={count + 1}
        aria-colcount={columns.length + 1}
        aria-activedescendant={`row-${at}`}
        aria-multiselectable
        tabIndex={0}
        ref={scroller}
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      >
        <Header view={view} onSort={onSort} />
        <div class="rows" role="presentation" style={{ height: `${height}px` }}>
          <div class="shown" role="presentation" style={{ transform: `translateY(${shift}px)` }}>
            {rows.map((index) => {
              const shown = rowAt(index)
              return (
                <Row
                  key={index % pool}
                  index={index}
                  top={(index - base) * rowHeight}
                  shown={shown}
                  figures={shown?.tensor && (knownFigures(model.id, shown.tensor.index) ?? shown.tensor.figures)}
                  isActive={index === at}
                  context={context}
                  model={model.id}
                  now={now}
                />
              )
            })}
          </div>
        </div>
      </div>
      {page?.count === 0 && !isLoading && (
        <p class="empty">{view.filter === '' ? 'This file has no tensors.' : 'Nothing matches the filter.'}</p>
      )}
    </div>
  )
}

function Header({ view, onSort }: Pick<GridProps, 'view' | 'onSort'>) {
  const { by, isDescending } = view.sort
  const title = (id: string, text: string, sort: SortKey | undefined, className: string) => {
    const direction = sort === by ? (isDescending ? 'descending' : 'ascending') : undefined
    return (
      <div key={id} role="columnheader" class={className} aria-sort={direction}>
        {sort ? (
          <button type="button" class="quiet" onClick={() => onSort(sort)}>
            {text}
            <span aria-hidden="true">{direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : ''}</span>
          </button>
        ) : (
          text
        )}
      </div>
    )
  }
  return (
    <div class="head row" role="row" aria-rowindex={1}>
      {title('name', 'Name', 'name', 'cell-name')}
      {columns.map(({ id, title: text, sort, rank, isNumber }) =>
        title(id, text, sort, `cell-${id} rank-${rank} ${isNumber ? 'number' : ''}`),
      )}
    </div>
  )
}
