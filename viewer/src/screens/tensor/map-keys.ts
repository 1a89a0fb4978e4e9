// The keys of the map. They are made once and ask for what they act on when they are pressed.
import type { KeyBinding } from '../../app/keys.js'
import { cellPixels, type MapView, type PlaneSize, type ViewSize, zoomAt } from '../../engine/tiles/layout.js'
import type { Cursor } from './draw-map.js'

export interface MapControl {
  view(): MapView
  size(): ViewSize
  plane(): PlaneSize
  cursor(): Cursor | undefined
  move(view: MapView): void
  setCursor(cursor: Cursor | undefined): void
  fit(): void
  /** What is shown, as a PNG. */
  picture(): Promise<Blob | null>
}

export interface TensorActions {
  readonly map: MapControl | undefined
  go(step: -1 | 1): void
  nextScale(): void
  nextColors(): void
  /** Of a tensor with more than two axes: all planes side by side, or one. */
  toggleMultiples(): void
  save(): void
}

const steps: Readonly<Record<string, readonly [down: number, across: number]>> = {
  ArrowUp: [-1, 0],
  k: [-1, 0],
  ArrowDown: [1, 0],
  j: [1, 0],
  ArrowLeft: [0, -1],
  h: [0, -1],
  ArrowRight: [0, 1],
  l: [0, 1],
}

/** One value further, or as many as a few pixels show; the view follows. */
export function moveCursor(map: MapControl, key: string): void {
  const [down, across] = steps[key]!
  const view = map.view()
  const { rows, columns } = map.plane()
  const pixels = cellPixels(view.zoom, map.plane())
  const step = (size: number): number => Math.max(1, Math.round(8 / size))
  const from = map.cursor() ?? { row: Math.floor(view.y), column: Math.floor(view.x) }
  const within = (at: number, count: number): number => Math.max(0, Math.min(count - 1, at))
  const cursor = {
    row: within(from.row + down * step(pixels.down), rows),
    column: within(from.column + across * step(pixels.across), columns),
  }
  map.setCursor(cursor)
  const { width, height } = map.size()
  const follow = (middle: number, at: number, length: number, size: number): number => {
    const reach = Math.max(0, length / 2 / size - 2)
    return Math.max(at - reach, Math.min(at + reach, middle))
  }
  const next = {
    ...view,
    x: follow(view.x, cursor.column, width, pixels.across),
    y: follow(view.y, cursor.row, height, pixels.down),
  }
  if (next.x !== view.x || next.y !== view.y) map.move(next)
}

export function mapKeys(now: () => TensorActions): readonly KeyBinding[] {
  const zoom = (by: number): void => {
    const { map } = now()
    if (!map) return
    const { width, height } = map.size()
    const cursor = map.cursor()
    const view = map.view()
    const { across, down } = cellPixels(view.zoom, map.plane())
    const at = cursor
      ? [width / 2 + (cursor.column + 0.5 - view.x) * across, height / 2 + (cursor.row + 0.5 - view.y) * down]
      : [width / 2, height / 2]
    map.move(zoomAt(view, map.size(), map.plane(), by, at[0]!, at[1]!))
  }
  const withMap =
    (run: (map: MapControl, key: string) => void): ((key: string) => void) =>
    (key) => {
      const { map } = now()
      if (map) run(map, key)
    }
  return [
    { keys: Object.keys(steps), shown: '← ↓ ↑ → hjkl', title: 'Move the cursor', run: withMap(moveCursor) },
    { keys: ['+', '='], shown: '+', title: 'Zoom in', run: () => zoom(0.5) },
    { keys: ['-'], title: 'Zoom out', run: () => zoom(-0.5) },
    { keys: ['0'], title: 'A pixel for each value', run: withMap((map) => map.move({ ...map.view(), zoom: 0 })) },
    { keys: ['f'], title: 'Show all of it', run: withMap((map) => map.fit()) },
    { keys: ['g'], title: 'Go to a row and column', run: () => document.querySelector<HTMLElement>('.goto')?.focus() },
    { keys: ['['], title: 'Tensor before', run: () => now().go(-1) },
    { keys: [']'], title: 'Next tensor', run: () => now().go(1) },
    { keys: ['s'], title: 'Next scale', run: () => now().nextScale() },
    { keys: ['c'], title: 'Next colours', run: () => now().nextColors() },
    { keys: ['e'], title: 'All planes side by side (experts)', run: () => now().toggleMultiples() },
    { keys: ['p'], title: 'Save the view as PNG', run: () => now().save() },
  ]
}
