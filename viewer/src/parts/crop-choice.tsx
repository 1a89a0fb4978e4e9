// Where in a tensor to look: a small picture of the whole with a frame in it, moved by pointer or arrow keys.
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { colorMapNamed, makeScale } from 'tare/kit'
import { paint, paletteOf } from '../colors/paint.js'
import type { Crop } from '../engine/rooms/compare.js'
import { useAnswer } from './use-answer.js'

interface CropChoiceProps {
  readonly model: number
  readonly name: string
  readonly rows: number
  readonly columns: number
  readonly crop: Crop
  /** The corner moves in steps, so that blocks of quantized types stay whole. */
  readonly step: number
  readonly onMove: (row: number, column: number) => void
}

const cells = 160

export function CropChoice({ model, name, rows, columns, crop, step, onMove }: CropChoiceProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const { answer } = useAnswer('compareOverview', { model, name, size: cells })
  const colors = useMemo(() => colorMapNamed('blue-yellow')!, [])
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || !answer || answer.rows * answer.columns === 0) return
    const scale = makeScale('minmax', answer.rms)
    const image = new ImageData(answer.columns, answer.rows)
    paint(answer.rms, scale, paletteOf(colors), new Uint32Array(image.data.buffer))
    context.putImageData(image, 0, 0)
  }, [answer, colors])
  const move = (row: number, column: number): void =>
    onMove(snap(row, rows - crop.height, 1), snap(column, columns - crop.width, step))
  const point = (event: PointerEvent): void => {
    const { left, top, width, height } = (event.currentTarget as HTMLElement).getBoundingClientRect()
    const row = ((event.clientY - top) / height) * rows - crop.height / 2
    move(row, ((event.clientX - left) / width) * columns - crop.width / 2)
  }
  const key = (event: KeyboardEvent): void => {
    const way = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key]
    if (!way) return
    event.preventDefault()
    event.stopPropagation()
    move(crop.row + (way[0]! * crop.height) / 4, crop.column + way[1]! * Math.max(step, crop.width / 4))
  }
  const percent = (part: number, whole: number): string => `${(100 * part) / Math.max(1, whole)}%`
  return (
    <div
      class="crop-choice"
      tabIndex={0}
      role="slider"
      aria-label="Part of the tensor"
      aria-valuemin={0}
      aria-valuemax={Math.max(0, rows - crop.height)}
      aria-valuenow={crop.row}
      aria-valuetext={`rows ${crop.row} to ${crop.row + crop.height} of ${rows}, columns ${crop.column} to ${crop.column + crop.width} of ${columns}`}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        point(event)
      }}
      onPointerMove={(event) => event.buttons > 0 && point(event)}
      onKeyDown={key}
    >
      <canvas
        ref={canvas}
        width={Math.max(1, answer?.columns ?? 1)}
        height={Math.max(1, answer?.rows ?? 1)}
        role="presentation"
      />
      <span
        class="frame"
        style={{
          left: percent(crop.column, columns),
          top: percent(crop.row, rows),
          width: percent(crop.width, columns),
          height: percent(crop.height, rows),
        }}
      />
    </div>
  )
}

const snap = (at: number, last: number, step: number): number =>
  Math.min(Math.max(0, Math.round(at / step) * step), Math.floor(Math.max(0, last) / step) * step)
