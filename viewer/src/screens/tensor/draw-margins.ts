// Beside the map: the root mean square of each row and column, and where one is.
import { ticksBetween } from 'tare/kit'
import { countLabel } from '../../parts/format.js'
import type { MapScene } from './draw-map.js'

export interface MarginColors {
  readonly paper: string
  readonly empty: string
  readonly ink: string
  readonly line: string
  readonly bar: string
}

type Place = (index: number) => number

/** Room for labels, at the outer edge; what is left shows norms. */
const labels = 14

export function drawMargins(context: CanvasRenderingContext2D, scene: MapScene, x: Place, y: Place): void {
  const { margin, size, plane, norms, colors } = scene
  if (margin === 0) return
  context.fillStyle = colors.paper
  context.fillRect(0, 0, size.width + margin, margin)
  context.fillRect(0, 0, margin, size.height + margin)
  if (norms) {
    context.fillStyle = colors.bar
    profile(norms.columns, x, margin, margin + size.width, (at, length, height) =>
      context.fillRect(at, margin - 2 - height, length, height),
    )
    profile(norms.rows, y, margin, margin + size.height, (at, length, height) =>
      context.fillRect(margin - 2 - height, at, height, length),
    )
  }
  context.fillStyle = colors.ink
  context.font = '10px ui-sans-serif, system-ui, sans-serif'
  for (const [place, count, length, isRow] of [
    [x, plane.columns, size.width, false],
    [y, plane.rows, size.height, true],
  ] as const)
    ticks(context, place, count, margin, margin + length, isRow)

  function profile(
    values: Float32Array,
    place: Place,
    low: number,
    high: number,
    bar: (at: number, length: number, height: number) => void,
  ): void {
    const first = Math.max(0, Math.floor(indexAt(place, low)))
    const end = Math.min(values.length, Math.ceil(indexAt(place, high)))
    const room = margin - labels - 4
    let max = 0
    for (let i = first; i < end; i++) if (values[i]! > max) max = values[i]!
    if (max === 0) return
    // Where several lie in a pixel, the largest is shown.
    for (let i = first; i < end; ) {
      const at = Math.max(low, Math.floor(place(i)))
      let largest = 0
      let next = i
      while (next < end && (next === i || place(next) < at + 1)) {
        if (values[next]! > largest) largest = values[next]!
        next++
      }
      const length = Math.min(high, Math.max(at + 1, place(next))) - at
      if (length > 0) bar(at, length, (room * largest) / max)
      i = next
    }
  }
}

const indexAt = (place: Place, at: number): number => (at - place(0)) / (place(1) - place(0))

function ticks(
  context: CanvasRenderingContext2D,
  place: Place,
  count: number,
  low: number,
  high: number,
  isRow: boolean,
): void {
  const first = Math.max(0, Math.ceil(indexAt(place, low)))
  const last = Math.min(count - 1, Math.floor(indexAt(place, high)))
  if (last < first) return
  const wanted = Math.max(1, Math.floor((high - low) / 90))
  for (const tick of new Set(ticksBetween(first, last, wanted).map(Math.round))) {
    const at = place(tick) + Math.max(0, (place(1) - place(0)) / 2)
    if (at < low || at > high - 8) continue
    context.save()
    context.translate(isRow ? labels - 4 : at, isRow ? at : labels - 4)
    if (isRow) context.rotate(-Math.PI / 2)
    context.textAlign = at - low < 16 ? (isRow ? 'right' : 'left') : 'center'
    context.textBaseline = 'alphabetic'
    context.fillText(countLabel(tick), 0, 0)
    context.restore()
  }
}
