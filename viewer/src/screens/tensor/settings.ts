// How the map is shown, from the address and back.
import { type CellFigure, cellFigures, colorMaps, type ScaleKind, scaleKinds } from 'tare/kit'
import { type Layer, layers } from '../../engine/rooms/tensor/layers.js'
import type { Plane } from '../../engine/rooms/tensor/tiles.js'
import { clampView, type MapView, type PlaneSize } from '../../engine/tiles/layout.js'
import { tensorCommand } from '../../parts/shell.js'

type Query = Readonly<Record<string, string>>

export interface Settings {
  readonly layer: Layer
  readonly scale: ScaleKind
  readonly sigmas: number
  /** Undefined: what fits the scale. */
  readonly colors: string | undefined
  readonly cells: CellFigure
}

/** Codes have a first and a last; everything else has outliers. */
export const defaultScale = (layer: Layer): ScaleKind => (layer === 'codes' ? 'minmax' : 'sigma')

const oneOf = <T extends string>(all: readonly T[], text: string | undefined, otherwise: T): T =>
  all.find((each) => each === text) ?? otherwise

export function settingsFrom(query: Query): Settings {
  const sigmas = Number(query.k)
  const layer = oneOf(layers, query.layer, 'values')
  return {
    layer,
    scale: oneOf(scaleKinds, query.scale, defaultScale(layer)),
    sigmas: sigmas >= 0.5 && sigmas <= 20 ? sigmas : 3,
    colors: colorMaps.find(({ name }) => name === query.colors)?.name,
    cells: oneOf(cellFigures, query.cells, 'mean'),
  }
}

/** The last two axes, unless the address says otherwise; a vector is one row. */
export function planeFrom(shape: readonly number[], query: Query): Plane {
  const rank = shape.length
  if (rank < 2) return { rows: 1, columns: shape[0] ?? 1 }
  const given = query.axes?.split(',').map(Number) ?? []
  const isAxis = (axis: number | undefined): axis is number => Number.isInteger(axis) && axis! >= 0 && axis! < rank
  const [a, b] = given
  const axes: readonly [number, number] = isAxis(a) && isAxis(b) && a !== b ? [a, b] : [rank - 2, rank - 1]
  const others = otherAxes(shape, axes)
  const at = query.at?.split(',').map(Number) ?? []
  const fixed = others.map((axis, i) => {
    const index = at[i] ?? 0
    return Number.isInteger(index) && index >= 0 && index < shape[axis]! ? index : 0
  })
  return { axes, fixed, rows: shape[axes[0]]!, columns: shape[axes[1]]! }
}

/** The axis whose planes are all shown side by side, such as that of experts; undefined: one plane. */
export function multiplesFrom(shape: readonly number[], { axes }: Plane, query: Query): number | undefined {
  const axis = query.all === undefined || query.all === '' ? undefined : Number(query.all)
  return axis !== undefined && axes && otherAxes(shape, axes).includes(axis) ? axis : undefined
}

/**
 * The command that draws the same map: colours, cells and the plane only where they are not the default. It draws values, not the codes or scales
 * that they are made of.
 */
export function pictureWords(
  file: string,
  { name, shape }: { readonly name: string; readonly shape: readonly number[] },
  plane: Plane,
  { layer, scale, colors, cells }: Settings,
): readonly string[] | undefined {
  if (layer !== 'values') return undefined
  const slice = shape.length > 2 ? ['--slice', sliceOf(shape, plane)] : []
  const look = [...(colors ? ['--colors', colors] : []), ...(cells === 'mean' ? [] : ['--cells', cells])]
  return tensorCommand('picture', file, name, ['--scale', scale, ...look, ...slice, '-o', 'map.png'])
}

/** All of the two axes of the plane, and its place on the others. */
function sliceOf(shape: readonly number[], { axes, fixed = [] }: Plane): string {
  const others = axes ? otherAxes(shape, axes) : []
  return shape.map((_, axis) => (others.includes(axis) ? (fixed[others.indexOf(axis)] ?? 0) : ':')).join(',')
}

export const otherAxes = (shape: readonly number[], axes: readonly [number, number]): number[] =>
  shape.map((_, axis) => axis).filter((axis) => !axes.includes(axis))

/** Undefined where the address says nothing: then all of it is shown. */
export function viewFrom(query: Query, plane: PlaneSize): MapView | undefined {
  const [x, y, zoom] = [Number(query.x), Number(query.y), Number(query.z)]
  const isGiven = query.x !== undefined && query.y !== undefined && query.z !== undefined
  if (!isGiven || ![x, y, zoom].every(Number.isFinite)) return undefined
  return clampView({ x, y, zoom }, plane)
}

export const viewQuery = ({ x, y, zoom }: MapView): Record<string, string> => ({
  x: String(Math.round(10 * x) / 10),
  y: String(Math.round(10 * y) / 10),
  z: String(Math.round(100 * zoom) / 100),
})
