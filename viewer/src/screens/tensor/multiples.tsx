// All planes along one axis, such as the experts of a layer, as small maps in the same colours: one that differs from the others stands out.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type ColorMap, colorMapNamed, colorsFor, type Scale, scaleFor } from 'tare/kit'
import { paint, paletteOf } from '../../colors/paint.js'
import { joinMoments } from '../../engine/overview-parts.js'
import type { TensorInfo } from '../../engine/rooms/tensor/tensor.js'
import type { Overview, Plane } from '../../engine/rooms/tensor/tiles.js'
import { askTensor } from '../../engine/tensor-workers.js'
import { countLabel, valueText } from '../../parts/format.js'
import { setQuery } from '../../state/location.js'
import { otherAxes, type Settings } from './settings.js'

interface MultiplesProps {
  readonly info: TensorInfo
  readonly plane: Plane
  readonly axis: number
  readonly settings: Settings
}

const cells = 128
/** Larger planes are shown from a sample of their rows. */
const maxWhole = 2 ** 21
/** More would be a page that nobody scrolls through, and buttons by the thousand. */
const maxShown = 512

export function Multiples({ info, plane, axis, settings }: MultiplesProps) {
  const count = info.ref.shape[axis]!
  const place = otherAxes(info.ref.shape, plane.axes!).indexOf(axis)
  const [found, setFound] = useState<ReadonlyMap<number, Overview>>(new Map())
  const waiting = useRef(new Map<number, Overview>())
  const frame = useRef(0)
  useEffect(() => () => cancelAnimationFrame(frame.current), [])
  /** Those that come in together are shown together. */
  const add = (index: number, overview: Overview): void => {
    waiting.current.set(index, overview)
    cancelAnimationFrame(frame.current)
    frame.current = requestAnimationFrame(() => {
      const come = [...waiting.current]
      waiting.current.clear()
      setFound((before) => new Map([...before, ...come]))
    })
  }
  const scale = useMemo(
    () =>
      scaleFor(
        settings.scale,
        joinMoments([...found.values()].map(({ moments }) => moments[settings.cells])),
        settings.sigmas,
      ),
    [found, settings.scale, settings.cells, settings.sigmas],
  )
  const colors = (settings.colors && colorMapNamed(settings.colors)) || colorsFor(scale)
  return (
    <div class="multiples" role="group" aria-label={`${count} planes of axis ${axis}, side by side`}>
      {Array.from({ length: Math.min(count, maxShown) }, (_, index) => (
        <Multiple
          key={index}
          info={info}
          plane={{ ...plane, fixed: (plane.fixed ?? []).map((at, i) => (i === place ? index : at)) }}
          index={index}
          overview={found.get(index)}
          figure={settings.cells}
          scale={scale}
          colors={colors}
          onFound={add}
        />
      ))}
      {count > maxShown && (
        <p class="faint">{`The first ${maxShown} of ${countLabel(count)}; the slider of the axis leads to the others.`}</p>
      )}
    </div>
  )
}

interface MultipleProps {
  readonly info: TensorInfo
  readonly plane: Plane
  readonly index: number
  readonly overview: Overview | undefined
  readonly figure: Settings['cells']
  readonly scale: Scale
  readonly colors: ColorMap
  onFound(index: number, overview: Overview): void
}

function Multiple({ info, plane, index, overview, figure, scale, colors, onFound }: MultipleProps) {
  const room = useRef<HTMLButtonElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const [width, height] = [Math.min(cells, plane.columns), Math.min(cells, plane.rows)]
  // Read when it comes into view, and not where it is scrolled past.
  useEffect(() => {
    if (overview) return
    let abort: AbortController | undefined
    const observer = new IntersectionObserver(([entry]) => {
      abort?.abort()
      if (!entry?.isIntersecting) return
      abort = new AbortController()
      const isQuick = plane.rows * plane.columns > maxWhole
      askTensor('overview', { tensor: info.ref, plane, width, height, isQuick }, { signal: abort.signal }).then(
        (answer) => onFound(index, answer),
        () => {},
      )
    })
    observer.observe(room.current!)
    return () => {
      observer.disconnect()
      abort?.abort()
    }
  }, [info, overview === undefined, JSON.stringify(plane)])
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !overview) return
    const image = new ImageData(overview.columns, overview.rows)
    paint(overview[figure], scale, paletteOf(colors), new Uint32Array(image.data.buffer))
    context.putImageData(image, 0, 0)
  }, [overview, figure, scale, colors])
  const rms = useMemo(() => overview && rootMeanSquare(overview.rms), [overview])
  return (
    <button
      ref={room}
      type="button"
      class="quiet"
      title={`Plane ${index}`}
      onClick={() => setQuery({ all: '', at: plane.fixed!.join() })}
    >
      <canvas ref={canvas} width={overview?.columns ?? width} height={overview?.rows ?? height} />
      <span class="caption">
        <span>{index}</span>
        <span class="faint">{rms === undefined ? '…' : `rms ${valueText(Number(rms.toPrecision(3)))}`}</span>
      </span>
    </button>
  )
}

function rootMeanSquare(values: Float32Array): number {
  let sum = 0
  for (const value of values) sum += value * value
  return Math.sqrt(sum / Math.max(1, values.length))
}
