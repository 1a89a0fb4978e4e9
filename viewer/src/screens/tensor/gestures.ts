// Pointer, wheel and touch on the map: drag to move, wheel or pinch to zoom at the place under the fingers, hover to read a value.
import { cellAt, cellPixels, zoomAt } from '../../engine/tiles/layout.js'
import type { MapControl } from './map-keys.js'

/** Powers of two for a pixel of the wheel. */
const wheelSpeed = 1 / 240

export function listenForGestures(canvas: HTMLCanvasElement, now: () => MapControl, margin: () => number): () => void {
  const abort = new AbortController()
  const { signal } = abort
  const pointers = new Map<number, { readonly x: number; readonly y: number }>()
  /** Where a finger came down: where it leaves without having moved, it points at a value. */
  let touched: { readonly x: number; readonly y: number } | undefined
  const placeOf = (event: MouseEvent): { readonly x: number; readonly y: number } => {
    const box = canvas.getBoundingClientRect()
    return { x: event.clientX - box.left - margin(), y: event.clientY - box.top - margin() }
  }
  const hover = ({ x, y }: { readonly x: number; readonly y: number }): void => {
    const { view, size, plane, setCursor } = now()
    const isInside = x >= 0 && y >= 0
    setCursor(isInside ? cellAt(view(), size(), plane(), x, y) : undefined)
  }
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault()
      const { x, y } = placeOf(event)
      const { view, size, plane, move } = now()
      const lines = event.deltaMode === 1 ? 16 : 1
      move(zoomAt(view(), size(), plane(), -event.deltaY * lines * wheelSpeed * (event.ctrlKey ? 3 : 1), x, y))
    },
    { passive: false, signal },
  )
  canvas.addEventListener(
    'pointerdown',
    (event) => {
      canvas.setPointerCapture(event.pointerId)
      pointers.set(event.pointerId, placeOf(event))
      touched = pointers.size === 1 ? placeOf(event) : undefined
    },
    { signal },
  )
  canvas.addEventListener(
    'pointerup',
    (event) => {
      const place = placeOf(event)
      if (touched && Math.hypot(place.x - touched.x, place.y - touched.y) < 5) hover(place)
      touched = undefined
    },
    { signal },
  )
  canvas.addEventListener(
    'pointermove',
    (event) => {
      const place = placeOf(event)
      const before = pointers.get(event.pointerId)
      if (!before) return hover(place)
      const { view, size, plane, move } = now()
      const { across, down } = cellPixels(view().zoom, plane())
      const [other] = [...pointers].filter(([id]) => id !== event.pointerId).map(([, at]) => at)
      pointers.set(event.pointerId, place)
      if (!other) {
        move({ ...view(), x: view().x - (place.x - before.x) / across, y: view().y - (place.y - before.y) / down })
        return
      }
      const apart = (a: typeof place): number => Math.hypot(a.x - other.x, a.y - other.y)
      const by = Math.log2(Math.max(1, apart(place)) / Math.max(1, apart(before)))
      move(zoomAt(view(), size(), plane(), by, (place.x + other.x) / 2, (place.y + other.y) / 2))
    },
    { signal },
  )
  for (const end of ['pointerup', 'pointercancel'] as const)
    canvas.addEventListener(end, (event) => pointers.delete(event.pointerId), { signal })
  canvas.addEventListener(
    'dblclick',
    (event) => {
      const { x, y } = placeOf(event)
      const { view, size, plane, move } = now()
      move(zoomAt(view(), size(), plane(), event.shiftKey ? -2 : 2, x, y))
    },
    { signal },
  )
  return () => abort.abort()
}
