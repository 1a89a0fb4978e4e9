// All tensors as a table, or as a tree of their names. Sorting and filtering is the worker's; here are only the rows that are seen.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import { type SortKey, sortKeys } from '../../engine/rooms/table/order.js'
import type { TableView } from '../../engine/rooms/tensors.js'
import { countLabel, sizeLabel } from '../../parts/format.js'
import { address, setQuery } from '../../state/location.js'
import { computeAllFigures, figuresProgress, stopFigures } from './figures.js'
import { FilterHelp } from './filter-help.js'
import { Grid } from './grid.js'
import { SelectionBar } from './selection-bar.js'
import './tensors.css'

/** The view is in the address, so that a filter can be sent to somebody. */
export function viewFromQuery(query: Readonly<Record<string, string>>): Omit<TableView, 'toggled'> {
  const [, sign = '', by = 'file'] = /^(-?)(\w+)$/.exec(query.sort ?? '') ?? []
  const key = sortKeys.find((each) => each === by) ?? 'file'
  return { filter: query.q ?? '', sort: { by: key, isDescending: sign === '-' }, isTree: query.tree === '1' }
}

/** In milliseconds. Filtering a million takes about twice as long. */
const typingPause = 40

export default function Tensors({ model }: ScreenProps) {
  const { query } = address.value
  const [toggled, setToggled] = useState<readonly string[]>([])
  const [summary, setSummary] = useState({
    tensors: model.head.tensors,
    bytes: 0,
    unknown: 0,
    problems: [] as readonly string[],
  })
  const [typed, setTyped] = useState(query.q ?? '')
  const view = useMemo<TableView>(
    () => ({ ...viewFromQuery(query), toggled }),
    [query.q, query.sort, query.tree, toggled],
  )
  const written = useRef(typed)
  useEffect(() => {
    if (typed === written.current) return
    const timer = setTimeout(() => {
      written.current = typed
      setQuery({ q: typed })
    }, typingPause)
    return () => clearTimeout(timer)
  }, [typed])
  // A link, or a step back: the field says what the table shows.
  useEffect(() => {
    const asked = query.q ?? ''
    if (asked === written.current) return
    written.current = asked
    setTyped(asked)
  }, [query.q])

  const sortBy = (by: SortKey): void => {
    // Numbers are wanted largest first, names from the beginning; a third click goes back to the order of the file.
    const isText = by === 'name' || by === 'type'
    const [first, second] = isText ? [by, `-${by}`] : [`-${by}`, by]
    const next = query.sort === first ? second : query.sort === second ? '' : first
    setQuery({ sort: next, tree: '' })
  }
  const toggle = (path: string): void =>
    setToggled((before) => (before.includes(path) ? before.filter((each) => each !== path) : [...before, path]))
  const progress = figuresProgress.value
  return (
    <div class="tensors">
      <h1 class="spoken">Tensors</h1>
      <header class="toolbar">
        <input
          type="search"
          class="filter"
          placeholder="Filter: *attn*  dtype:q4_k  size>1M  shape:*,4096  nan>0"
          aria-label="Filter"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <FilterHelp />
        <label class="check">
          <input
            type="checkbox"
            checked={view.isTree}
            onChange={(event) => setQuery({ tree: event.currentTarget.checked ? '1' : '', sort: '' })}
          />
          Tree
        </label>
        <button
          type="button"
          onClick={() => (progress ? stopFigures() : void computeAllFigures(model.id, model.head.tensors))}
        >
          {progress ? `Stop at ${countLabel(progress.done)}` : 'Compute statistics'}
        </button>
        <span class="faint count">
          {countLabel(summary.tensors)} {summary.tensors === 1 ? 'tensor' : 'tensors'}, {sizeLabel(summary.bytes)}
        </span>
      </header>
      {summary.problems.map((problem) => (
        <p key={problem} class="problem">
          {problem}
        </p>
      ))}
      {summary.unknown > 0 && (
        <p class="problem">
          The statistics of {countLabel(summary.unknown)} tensors are not computed yet; they are left out or come last.
        </p>
      )}
      <Grid model={model} view={view} onSort={sortBy} onToggle={toggle} onSummary={setSummary} />
      <SelectionBar model={model} view={view} />
    </div>
  )
}
