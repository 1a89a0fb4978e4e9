// All methods on one tensor: bits per weight to the right, signal to noise upwards. The marked one is chosen; a click chooses another.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { MethodPoint } from 'tare/kit'
import type uPlot from 'uplot'
import { loadPlotter } from '../../parts/plotter.js'
import { useSize } from '../../parts/use-size.js'
import { isDark } from '../../state/theme.js'
import { shortName } from './budget.js'

interface PlotProps {
  readonly points: readonly MethodPoint[]
  readonly chosen: string
  readonly onChoose: (method: string) => void
}

const height = 320

export function Plot({ points, chosen, onChoose }: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const width = useSize(box)?.width ?? 0
  const dark = isDark()
  const Plotter = usePlotter()
  useEffect(() => {
    const element = box.current
    const shown = points.filter(({ snr }) => snr !== null)
    if (!element || !Plotter || width < 40 || shown.length === 0) return
    const ink = dark ? '#e8eaee' : '#16191d'
    const faint = dark ? '#a6aeba' : '#565e69'
    const line = dark ? '#333a45' : '#d9dde3'
    const axis = { stroke: faint, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
    const bits = shown.map(({ bitsPerWeight }) => bitsPerWeight)
    const levels = shown.map(({ snr }) => snr!)
    const plot = new Plotter(
      {
        width,
        height,
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        scales: {
          x: { time: false, range: [Math.max(0, Math.min(...bits) - 0.4), Math.max(...bits) + 0.8] },
          y: { range: [Math.min(0, ...levels), Math.max(...levels) * 1.08] },
        },
        axes: [
          { ...axis, label: 'bits per weight', labelSize: 22, size: 34 },
          { ...axis, label: 'signal to noise, dB', labelSize: 22, size: 44 },
        ],
        series: [{}, { label: 'SNR', paths: () => null, points: { show: false } }],
        hooks: { draw: [(each) => drawPoints(each, shown, chosen, ink, faint)] },
      },
      [bits, levels],
      element,
    )
    const click = (event: MouseEvent): void => {
      const nearest = nearestPoint(plot, shown, event)
      if (nearest) onChoose(shortName(nearest.method))
    }
    plot.over.addEventListener('click', click)
    return () => plot.destroy()
  }, [points, chosen, width, dark, onChoose, Plotter])
  const list = points
    .filter(({ snr }) => snr !== null)
    .map((each) => `${shortName(each.method)} ${each.bitsPerWeight.toFixed(2)} bits, ${each.snr!.toFixed(1)} dB`)
  return (
    <>
      <div
        ref={box}
        class="plot"
        role="img"
        aria-label={`Methods by bits per weight and signal to noise: ${list.join('; ')}`}
      />
      <details>
        <summary>As a list</summary>
        <ul class="method-list">
          {list.map((line) => (
            <li key={line}>{line}</li>
          ))}
        </ul>
      </details>
    </>
  )
}

/** Where it cannot be loaded there is the list alone. */
function usePlotter(): typeof uPlot | undefined {
  const [found, setFound] = useState<{ readonly Plotter: typeof uPlot }>()
  useEffect(() => {
    loadPlotter().then(
      (Plotter) => setFound({ Plotter }),
      () => {},
    )
  }, [])
  return found?.Plotter
}

function place(plot: uPlot, { bitsPerWeight, snr }: MethodPoint, isCanvas: boolean): readonly [x: number, y: number] {
  return [plot.valToPos(bitsPerWeight, 'x', isCanvas), plot.valToPos(snr!, 'y', isCanvas)]
}

function nearestPoint(
  plot: uPlot,
  points: readonly MethodPoint[],
  { offsetX, offsetY }: MouseEvent,
): MethodPoint | undefined {
  let [best, least]: [MethodPoint | undefined, number] = [undefined, 24 ** 2]
  for (const point of points) {
    const [x, y] = place(plot, point, false)
    const distance = (x - offsetX) ** 2 + (y - offsetY) ** 2
    if (distance < least) [best, least] = [point, distance]
  }
  return best
}

/** Dots with names; those of MCF's methods are squares, so that colour is not the only sign. A line joins the best. */
function drawPoints(plot: uPlot, points: readonly MethodPoint[], chosen: string, ink: string, faint: string): void {
  const { ctx } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = `${11 * ratio}px ui-monospace, monospace`
  ctx.textAlign = 'left'
  ctx.textBaseline = 'alphabetic'
  ctx.strokeStyle = faint
  ctx.beginPath()
  let top = Number.NEGATIVE_INFINITY
  for (const point of points.toSorted((a, b) => a.bitsPerWeight - b.bitsPerWeight || b.snr! - a.snr!)) {
    if (point.snr! <= top) continue
    const isFirst = top === Number.NEGATIVE_INFINITY
    top = point.snr!
    const at = place(plot, point, true)
    if (isFirst) ctx.moveTo(...at)
    else ctx.lineTo(...at)
  }
  ctx.stroke()
  // Dots and names that are drawn: left, right, and the middle of their line.
  const taken: (readonly [number, number, number])[] = points.map((point) => {
    const [x, y] = place(plot, point, true)
    return [x - 3 * ratio, x + 3 * ratio, y]
  })
  for (const point of points) {
    const [x, y] = place(plot, point, true)
    const isChosen = shortName(point.method) === chosen
    const size = (isChosen ? 7 : 4) * ratio
    ctx.fillStyle = point.method.startsWith('mcf.') ? '#d55e00' : '#0072b2'
    ctx.beginPath()
    if (point.method.startsWith('mcf.')) ctx.rect(x - size, y - size, 2 * size, 2 * size)
    else ctx.arc(x, y, size, 0, 2 * Math.PI)
    ctx.fill()
    if (isChosen) {
      ctx.strokeStyle = ink
      ctx.lineWidth = 2 * ratio
      ctx.stroke()
    }
    const label = shortName(point.method)
    const width = ctx.measureText(label).width
    const [right, left] = [x + 9 * ratio, x - 9 * ratio - width]
    const spots = [
      [right, y],
      [left, y],
      [right, y + 12 * ratio],
      [right, y - 12 * ratio],
      [left, y + 12 * ratio],
      [left, y - 12 * ratio],
    ] as const
    const isFree = ([from, middle]: readonly [number, number]): boolean =>
      taken.every(([start, end, line]) => Math.abs(line - middle) > 10 * ratio || from > end || from + width < start)
    const spot = spots.find(isFree) ?? (isChosen ? spots[0] : undefined)
    if (!spot) continue
    ctx.fillStyle = ink
    ctx.fillText(label, spot[0], spot[1] + 4 * ratio)
    taken.push([spot[0], spot[0] + width, spot[1]])
  }
  ctx.restore()
}
