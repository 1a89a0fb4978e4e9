// Where the bytes are. Boxes are elements, so that each can be focused, named and read aloud; arrows move to the nearest in a direction.
import { useMemo, useRef, useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import { typeColors } from '../../colors/types.js'
import type { TreemapBox } from '../../engine/rooms/treemap.js'
import { countLabel, shapeLabel, sizeLabel, typeLabel } from '../../parts/format.js'
import { visible } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { useSize } from '../../parts/use-size.js'
import { goTo } from '../../state/location.js'
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

const describe = ({ name, bytes, tensor }: TreemapBox): string =>
  tensor
    ? `${visible(tensor.name)} · ${typeLabel(tensor.type)} · ${shapeLabel(tensor.shape)} · ${sizeLabel(bytes)}`
    : `${visible(name)} · ${sizeLabel(bytes)}`

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
        <ul class="legend">
          {model.head.types.slice(0, 8).map(({ type, bytes, tensors }) => (
            <li key={type} title={`${countLabel(tensors)} tensors, ${sizeLabel(bytes)}`}>
              <i style={{ background: colorOf(type).paper }} />
              {typeLabel(type)} <span class="faint">{sizeLabel(bytes)}</span>
            </li>
          ))}
        </ul>
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
          const leaf = leaves.indexOf(box)
          const { paper, ink } = colorOf(box.tensor?.type ?? '')
          return (
            <button
              key={`${box.x} ${box.y} ${box.tensor?.name}`}
              type="button"
              data-leaf={leaf}
              tabIndex={leaf === at ? 0 : -1}
              aria-label={describe(box)}
              style={{ ...place, background: paper, color: ink }}
              onFocus={() => setAt(leaf)}
              onPointerEnter={() => setHovered(box)}
              onClick={() => box.tensor && goTo('tensor', box.tensor.name)}
            >
              {box.width > 40 && box.height > 15 && visible(box.name)}
            </button>
          )
        })}
      </div>
      <p class="readout">{shown ? describe(shown) : model.head.tensors === 0 ? 'This file has no tensors.' : ' '}</p>
    </section>
  )
}
