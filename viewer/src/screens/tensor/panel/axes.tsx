// Tensors of more than two dimensions: which two are shown, and where on the others.
import { address, setQuery } from '../../../state/location.js'
import { multiplesFrom, otherAxes } from '../settings.js'
import type { PanelProps } from './panel.js'

export function Axes({ info, plane }: PanelProps) {
  const { shape } = info.ref
  const axes = plane.axes!
  const others = otherAxes(shape, axes)
  const choose = (which: 0 | 1, axis: number): void => {
    const [rows, columns] = axes
    // The axis that was there goes where the other one came from.
    const next = which === 0 ? [axis, axis === columns ? rows : columns] : [axis === rows ? columns : rows, axis]
    setQuery({ axes: next.join(), all: '', at: '', x: '', y: '', z: '' })
  }
  const set = (place: number, index: number): void =>
    setQuery({ at: others.map((_, i) => (i === place ? index : (plane.fixed?.[i] ?? 0))).join() })
  const all = multiplesFrom(shape, plane, address.value.query)
  return (
    <section class="axes">
      <h2>Axes</h2>
      {(['Rows', 'Columns'] as const).map((title, which) => (
        <label key={title}>
          {title}
          <select
            value={String(axes[which as 0 | 1])}
            onChange={(event) => choose(which as 0 | 1, Number(event.currentTarget.value))}
          >
            {shape.map((dim, axis) => (
              <option key={`${axis} ${dim}`} value={String(axis)}>
                {`axis ${axis} (${dim})`}
              </option>
            ))}
          </select>
        </label>
      ))}
      {others.map((axis, i) => (
        <label key={axis}>
          {`Axis ${axis}`}
          <input
            type="range"
            min="0"
            max={shape[axis]! - 1}
            value={plane.fixed?.[i] ?? 0}
            disabled={axis === all}
            onInput={(event) => set(i, Number(event.currentTarget.value))}
          />
          <output>
            {plane.fixed?.[i] ?? 0} of {shape[axis]}
          </output>
        </label>
      ))}
      <div class="side-by-side">
        {others.map((axis) => (
          <button
            key={axis}
            type="button"
            aria-pressed={axis === all}
            onClick={() => setQuery({ all: axis === all ? '' : String(axis) })}
          >
            {others.length === 1 ? `All ${shape[axis]} side by side (e)` : `All ${shape[axis]} of axis ${axis}`}
          </button>
        ))}
      </div>
    </section>
  )
}
