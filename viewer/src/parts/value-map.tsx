// A small matrix of values as a picture: one pixel per value, made larger without smoothing. Several maps of the same place share a cursor;
// the value under it is said in words, too.
import { useEffect, useRef } from 'preact/hooks'
import type { ColorMap, Scale } from 'tare/kit'
import { paint, paletteOf } from '../colors/paint.js'
import { ColorBar } from './color-bar.js'
import { valueText } from './format.js'

export interface Cell {
  readonly row: number
  readonly column: number
}

interface ValueMapProps {
  readonly title: string
  readonly values: Float32Array
  readonly rows: number
  readonly columns: number
  /** Where its first value is in the tensor. */
  readonly origin: Cell
  readonly scale: Scale
  readonly colors: ColorMap
  readonly cursor?: Cell | undefined
  readonly onCursor: (cell: Cell) => void
}

/** More columns than these may have less than a pixel each: then all of them count, instead of some being left out. */
const largest = 256

export function ValueMap({ title, values, rows, columns, origin, scale, colors, cursor, onCursor }: ValueMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context || values.length !== rows * columns || values.length === 0) return
    const image = new ImageData(columns, rows)
    paint(values, scale, paletteOf(colors), new Uint32Array(image.data.buffer))
    context.putImageData(image, 0, 0)
  }, [values, rows, columns, scale, colors])
  const cellAt = ({ offsetX, offsetY, currentTarget }: MouseEvent): Cell => {
    const { clientWidth, clientHeight } = currentTarget as HTMLElement
    return {
      row: inside(Math.floor((offsetY / clientHeight) * rows), rows),
      column: inside(Math.floor((offsetX / clientWidth) * columns), columns),
    }
  }
  const move = (event: KeyboardEvent): void => {
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    event.stopPropagation()
    const from = cursor ?? { row: 0, column: 0 }
    const far = event.shiftKey ? 16 : 1
    onCursor({ row: inside(from.row + step[0] * far, rows), column: inside(from.column + step[1] * far, columns) })
  }
  const value = cursor && values[cursor.row * columns + cursor.column]
  const place = cursor && { row: origin.row + cursor.row, column: origin.column + cursor.column }
  return (
    <figure class="value-map">
      <figcaption>
        <span>{title}</span>
        <span class="faint">{place && `[${place.row}, ${place.column}] ${valueText(value)}`}</span>
      </figcaption>
      <div class="frame">
        <canvas
          ref={canvas}
          class={columns > largest ? 'dense' : ''}
          width={columns}
          height={rows}
          tabIndex={0}
          role="img"
          aria-label={`${title}, ${rows} rows of ${columns}${place ? `; row ${place.row}, column ${place.column}: ${valueText(value)}` : ''}`}
          onPointerMove={(event) => onCursor(cellAt(event))}
          onPointerDown={(event) => onCursor(cellAt(event))}
          onKeyDown={move}
        />
        {cursor && (
          <span
            class="cross"
            style={{
              left: `${(100 * (cursor.column + 0.5)) / columns}%`,
              top: `${(100 * (cursor.row + 0.5)) / rows}%`,
            }}
          />
        )}
      </div>
      <ColorBar scale={scale} colors={colors} />
    </figure>
  )
}

const steps: Readonly<Record<string, readonly [rows: number, columns: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
}

const inside = (index: number, count: number): number => Math.min(Math.max(index, 0), count - 1)
