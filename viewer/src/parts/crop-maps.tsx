// Maps of the same part of a tensor side by side, under one cursor, and beside them the choice of the part. The part is in the address, so that
// a link leads to it.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { ColorMap, Scale } from 'tare/kit'
import type { Crop } from '../engine/rooms/compare.js'
import { address, setQuery } from '../state/location.js'
import { CropChoice } from './crop-choice.js'
import { type Cell, ValueMap } from './value-map.js'
import './maps.css'

export interface CropPlace {
  readonly crop: Crop
  move(row: number, column: number): void
}

/** A square of `side`, or all of a smaller matrix; `middle` is where it is at first. */
export function useCrop(
  rows: number,
  columns: number,
  { side, middle }: { readonly side: number; readonly middle?: readonly number[] | undefined },
): CropPlace {
  const [height, width] = [Math.min(side, rows), Math.min(side, columns)]
  const within = (at: number, last: number): number => Math.min(Math.max(0, Math.round(at) || 0), Math.max(0, last))
  const given = address.value.query.at?.split(',').map(Number)
  const [row = 0, column = 0] = given ?? [
    (middle?.at(-2) ?? 0) - (middle ? side / 2 : 0),
    (middle?.at(-1) ?? 0) - (middle ? side / 2 : 0),
  ]
  return {
    crop: { row: within(row, rows - height), column: within(column, columns - width), height, width },
    move: (nextRow, nextColumn) => setQuery({ at: `${nextRow},${nextColumn}` }),
  }
}

export interface ShownMap {
  readonly title: string
  readonly values: Float32Array
  readonly scale: Scale
  readonly colors: ColorMap
}

interface CropMapsProps {
  readonly model: number
  readonly name: string
  readonly rows: number
  readonly columns: number
  readonly place: CropPlace
  /** See `CropChoice`. */
  readonly step: number
  /** Empty until they are read. */
  readonly maps: readonly ShownMap[]
  /** Below the maps. */
  readonly children?: ComponentChildren
  onCursor?(cell: Cell): void
}

export function CropMaps({ model, name, rows, columns, place, step, maps, children, onCursor }: CropMapsProps) {
  const [cursor, setCursor] = useState<Cell>()
  const { crop, move } = place
  return (
    <div class="crop-maps">
      <div class="part">
        <CropChoice {...{ model, name, rows, columns, crop, step }} onMove={move} />
        <p class="faint">
          {`Rows ${crop.row}–${crop.row + crop.height - 1} of ${rows}, columns ${crop.column}–${crop.column + crop.width - 1} of ${columns}`}
        </p>
      </div>
      <div class="stack">
        <div class="maps">
          {maps.map((map) => (
            <ValueMap
              key={map.title}
              {...map}
              rows={crop.height}
              columns={crop.width}
              origin={crop}
              cursor={cursor}
              onCursor={(cell) => {
                setCursor(cell)
                onCursor?.(cell)
              }}
            />
          ))}
        </div>
        {children}
      </div>
    </div>
  )
}
