// Where the bytes are. Boxes are elements, so that each can be focused, named and read aloud; arrows move to the nearest in a direction.
import { useMemo, useRef, useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import { typeColors } from '../../colors/types.js'
import type { TreemapBox } from '../../engine/rooms/treemap.js'
import { countLabel, shapeLabel, sizeLabel, typeLabel } from '../../parts/format.js'
import { visible, visibleName } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { useSize } from '../../parts/use-size.js'
import { address, goTo, setQuery } from '../../state/location.js'
import { models } from '../../state/models.js'
import { ErrorLegend, useErrorColors } from './error-colors.js'
import { type Direction, nearestBox } from './nearest-box.js'

const directions: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'left',
  h: 'left',
  ArrowRight: 'right',
  l: 'right',
  ArrowUp: 'up',
  k: 'up',
  ArrowDown: 'down',
  j: 'down',
}

function describe({ name, bytes, tensor, many }: TreemapBox, error: string | undefined): string {
  if (many) return `${visible(many.path)} · ${countLabel(many.count)} tensors · ${sizeLabel(bytes)}`
  if (!tensor) return `${visibleName(name)} · ${sizeLabel(bytes)}`
  const facts = [visibleName(tensor.name), typeLabel(tensor.type), shapeLabel(tensor.shape), sizeLabel(bytes)]
  return (error === undefined ? facts : [...facts, error]).join(' · ')
}

/** The tensor, or the table of those that are one box. */
function show({ tensor, many }: TreemapBox): void {
  if (tensor) goTo('tensor', tensor.name)
  else if (many) goTo('tensors', undefined, { q: many.filter })
}

/** Nearly every name ends in it, and few boxes have room for it. */
const shortName = (name: string): string => visibleName(name.replace(/(.)\.weight$/, '$1'))

const placeOf = ({ x, y, width, height }: TreemapBox) => ({
  left: `${x}px`,
  top: `${y}px`,
  width: `${width}px`,
  height: `${height}px`,
})

export function Treemap({ model }: ScreenProps) {
  const room = useRef<HTMLDivElement>(null)
  const size = useSize(room)
  const { answer: boxes } = useAnswer('treemap', size && { model: model.id, ...size })
  const [at, setAt] = useState(0)
  const [hovered, setHovered] = useState<TreemapBox>()
  const colorOf = useMemo(() => typeColors(model.head.types), [model.head])
  const leaves = useMemo(() => boxes?.filter(({ isLeaf }) => isLeaf) ?? [], [boxes])
  const shown = hovered ?? leaves[at]
  const leafOf = useMemo(() => new Map(leaves.map((box, i) => [box, i])), [leaves])
  const others = models.value.filter(({ id, status }) => id !== model.id && status === 'open')
  const other = others.find(({ id }) => String(id) === address.value.query.against)
  const errors = useErrorColors(model.id, other?.id, leaves)
  const errorOf = (box: TreemapBox): string | undefined => errors && box.tensor && errors.text(box.tensor.name)

  const move = (event: KeyboardEvent): void => {
    const direction = directions[event.key]
    if (!direction) return
    event.preventDefault()
    const next = nearestBox(leaves, at, direction)
    setAt(next)
    room.current?.querySelector<HTMLElement>(`[data-leaf="${next}"]`)?.focus()
  }
  return (
    <section class="treemap">
      <header>
        <h2>Where the bytes are</h2>
        {others.length > 0 && (
          <label class="against">
            Colours
            <select
              value={other ? String(other.id) : ''}
              onChange={(event) => setQuery({ against: event.currentTarget.value })}
            >
              <option value="">element types</option>
              {others.map(({ id, title }) => (
                <option key={id} value={String(id)}>
                  error against {visible(title)}
                </option>
              ))}
            </select>
          </label>
        )}
        {errors ? (
          <ErrorLegend {...errors} />
        ) : (
          <ul class="legend">
            {model.head.types.slice(0, 8).map(({ type, bytes, tensors }) => (
              <li key={type} title={`${countLabel(tensors)} tensors, ${sizeLabel(bytes)}`}>
                <i style={{ background: colorOf(type).paper }} />
                {typeLabel(type)} <span class="faint">{sizeLabel(bytes)}</span>
              </li>
            ))}
          </ul>
        )}
      </header>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the boxes inside take the focus; this listens for all of them */}
      <div class="boxes" ref={room} onKeyDown={move} onPointerLeave={() => setHovered(undefined)}>
        {boxes?.map((box) => {
          const place = placeOf(box)
          if (!box.isLeaf)
            return (
              <div key={`${box.depth} ${box.x} ${box.y}`} class={`group depth-${box.depth}`} style={place}>
                {box.depth === 1 && box.width > 48 && box.height > 48 && visible(box.name)}
              </div>
            )
          const leaf = leafOf.get(box)!
          const { paper, ink } = errors?.color(box.tensor?.name ?? '') ?? colorOf(box.type)
          const error = errorOf(box)
          return (
            <button
              key={`${box.x} ${box.y} ${box.tensor?.name ?? box.name}`}
              type="button"
              data-leaf={leaf}
              tabIndex={leaf === at ? 0 : -1}
              aria-label={describe(box, error)}
              style={{ ...place, background: paper, color: ink }}
              onFocus={() => setAt(leaf)}
              onPointerEnter={() => setHovered(box)}
              onClick={() => show(box)}
            >
              {box.width > 40 && box.height > 15 && shortName(box.name)}
              {error !== undefined && box.width > 48 && box.height > 40 && <small data-error={error} />}
            </button>
          )
        })}
      </div>
      <p class="readout">
        {shown ? describe(shown, errorOf(shown)) : model.head.tensors === 0 ? 'This file has no tensors.' : ' '}
      </p>
    </section>
  )
}
