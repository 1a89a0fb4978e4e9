// One row: a tensor with its figures, or a group of the tree.
import type { NoFigures, TensorFigures } from '../../engine/rooms/table/figures.js'
import type { ShownRow, TableRow } from '../../engine/rooms/tensors.js'
import { countLabel, sizeLabel } from '../../parts/format.js'
import { LongName, Name, visibleName } from '../../parts/text.js'
import { type CellContext, columns } from './columns.js'
import type { GridActions } from './grid-keys.js'
import { selection } from './selection.js'

interface RowProps {
  readonly index: number
  readonly top: number
  /** Absent while it is on its way. */
  readonly shown: ShownRow | undefined
  readonly figures: TensorFigures | NoFigures | undefined
  readonly isActive: boolean
  readonly context: CellContext
  readonly model: number
  now(): GridActions
}

/** Rendered again only when one of these changes, as components are that read a signal. */
export function Row({ index, top, shown, figures, isActive, context, model, now }: RowProps) {
  const tensor = shown?.tensor
  const isSelected =
    tensor !== undefined && selection.value.model === model && selection.value.tensors.has(tensor.index)
  const place = { transform: `translateY(${top}px)`, ...(shown?.tree && { '--depth': String(shown.tree.depth) }) }
  const shared = {
    id: `row-${index}`,
    'aria-rowindex': index + 2,
    style: place,
    onPointerDown: () => now().focus(index),
  } as const
  if (shown?.tree && !tensor) {
    const { path, label, isOpen, tensors = 0, bytes = 0, depth } = shown.tree
    return (
      <div
        role="row"
        {...shared}
        class={`row group ${isActive ? 'active' : ''}`}
        aria-level={depth + 1}
        aria-expanded={isOpen}
        onClick={() => path !== undefined && now().toggle(path)}
      >
        <div role="gridcell" class="cell-name">
          <span class="twist" aria-hidden="true">
            {isOpen ? '▾' : '▸'}
          </span>
          <Name text={label} />
          <span class="faint">{countLabel(tensors)}</span>
        </div>
        <div role="gridcell" class="cell-size number">
          {sizeLabel(bytes)}
        </div>
      </div>
    )
  }
  return (
    <div
      role="row"
      {...shared}
      class={`row ${isActive ? 'active' : ''} ${isSelected ? 'selected' : ''}`}
      aria-selected={isSelected}
      {...(shown?.tree && { 'aria-level': shown.tree.depth + 1 })}
      onClick={(event) => tensor && choose(event, tensor, now())}
    >
      <div role="gridcell" class="cell-name">
        {tensor && (
          <>
            <input
              type="checkbox"
              class="pick"
              tabIndex={-1}
              checked={isSelected}
              aria-label={`Select ${visibleName(tensor.name)}`}
            />
            {shown?.tree ? <Name text={shown.tree.label} /> : <LongName text={tensor.name} />}
          </>
        )}
      </div>
      {tensor &&
        columns.map(({ id, rank, isNumber, cell }) => (
          <div key={id} role="gridcell" class={`cell-${id} rank-${rank} ${isNumber ? 'number' : ''}`}>
            {cell({ ...tensor, figures }, context)}
          </div>
        ))}
    </div>
  )
}

/** The box selects, and so does a click with a modifier; anywhere else shows the tensor. */
function choose(event: MouseEvent, tensor: TableRow, actions: GridActions): void {
  const isPick = (event.target as HTMLElement).matches('.pick')
  if (isPick || event.ctrlKey || event.metaKey || event.shiftKey) actions.select(tensor)
  else actions.open(tensor.name)
}
