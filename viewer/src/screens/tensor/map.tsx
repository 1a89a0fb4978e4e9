// The heat map: a canvas that is moved and zoomed by pointer, wheel, touch and keys. Its text twin is the readout, which is read aloud.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Moments } from 'tare/kit'
import { colorMapNamed, colorsFor } from 'tare/kit'
import { paletteOf } from '../../colors/paint.js'
import type { TensorInfo } from '../../engine/rooms/tensor/tensor.js'
import type { Plane } from '../../engine/rooms/tensor/tiles.js'
import {
  clampView,
  fitView,
  levelFor,
  type MapView,
  maxTileLevel,
  type ViewSize,
  visibleTiles,
} from '../../engine/tiles/layout.js'
import { TileStore } from '../../engine/tiles/tile-store.js'
import { useSize } from '../../parts/use-size.js'
import { address, setQuery } from '../../state/location.js'
import { isDark } from '../../state/theme.js'
import { type Cursor, drawMap, isSharp, type MapScene } from './draw-map.js'
import { listenForGestures } from './gestures.js'
import type { MapControl } from './map-keys.js'
import { type Known, scaleAt } from './scale-of-level.js'
import { type Settings, viewFrom, viewQuery } from './settings.js'
import type { TensorData } from './use-tensor-data.js'

interface MapProps {
  readonly info: TensorInfo
  readonly plane: Plane
  readonly settings: Settings
  readonly data: TensorData
  readonly values: Moments | undefined
  readonly far: Known | undefined
  readonly cursor: Cursor | undefined
  readonly label: string
  onCursor(cursor: Cursor | undefined): void
  onControl(control: MapControl): void
  onZoom(view: MapView): void
  onError(error: unknown): void
}

const maxMargin = 56
/** What an address without a place says. */
const nowhere = ',,'

const mapColors = (dark: boolean): MapScene['colors'] => ({
  paper: dark ? '#14171c' : '#ffffff',
  empty: dark ? '#1b1f26' : '#f5f6f8',
  ink: dark ? '#a6aeba' : '#565e69',
  line: dark ? 'rgb(0 0 0 / 45%)' : 'rgb(0 0 0 / 35%)',
  bar: dark ? '#4d7fb8' : '#8fb4dd',
})

export function HeatMap(props: MapProps) {
  const { info, plane, settings, data, values, far, cursor, label } = props
  const room = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const box = useSize(room)
  const margin = (box?.width ?? 0) < 480 ? 0 : maxMargin
  const size: ViewSize = {
    width: Math.max(1, (box?.width ?? 1) - margin),
    height: Math.max(1, (box?.height ?? 1) - margin),
  }
  const view = useRef<MapView | undefined>(undefined)
  const figure = settings.layer === 'values' ? settings.cells : 'mean'
  const planeName = JSON.stringify([info.ref.index, plane, settings.layer])

  const store = useMemo(
    () =>
      new TileStore({ tensor: info.ref, plane, layer: settings.layer, figure }, () => draw.current(), props.onError),
    [planeName, figure],
  )
  useEffect(() => () => store.close(), [store])

  // The address rules: what it says is shown, and where it says nothing all of the plane is. Our own changes are written there after a while.
  const { query } = address.value
  const asked = [query.x, query.y, query.z].join()
  const written = useRef<string | undefined>(undefined)
  useLayoutEffect(() => {
    if (!box || (asked === written.current && asked !== nowhere)) return
    written.current = asked
    view.current = viewFrom(query, plane) ?? fitView(plane, size)
    props.onZoom(view.current)
  }, [asked, box?.width, box?.height, plane.rows, plane.columns])

  const frame = useRef(0)
  // A frame that is waited for paints what is rendered by then.
  const paint = useRef(() => {})
  const draw = useRef(() => {
    if (frame.current !== 0) return
    frame.current = requestAnimationFrame(() => {
      frame.current = 0
      paint.current()
    })
  })
  const dark = isDark()
  const paintNow = (): void => {
    const element = canvas.current
    const current = view.current
    if (!element || !current || !box) return
    const ratio = window.devicePixelRatio || 1
    const [width, height] = [Math.round(box.width * ratio), Math.round(box.height * ratio)]
    if (element.width !== width || element.height !== height) [element.width, element.height] = [width, height]
    const level = levelFor(current.zoom)
    const canTile = level <= maxTileLevel && (level < data.overviewLevel || level === 0 || settings.layer !== 'values')
    const range = canTile ? visibleTiles(current, size, plane, level) : undefined
    if (range) store.want(range)
    // Until it is known what the colours span, all values would have the same.
    const hasScale = values !== undefined || far !== undefined
    const scale = scaleAt(settings.scale, level, values, far, settings.sigmas)
    const overviewScale = scaleAt(settings.scale, Math.max(level, data.overviewLevel), values, far, settings.sigmas)
    const colorMap = (settings.colors && colorMapNamed(settings.colors)) || colorsFor(scale)
    const scene: MapScene = {
      view: current,
      size,
      margin,
      plane,
      range: hasScale ? range : undefined,
      tile: (row, column) => store.get(level, row, column),
      figure,
      scale,
      overviewScale,
      palette: paletteOf(colorMap),
      paintKey: `${colorMap.name} ${scale.kind} ${scale.low} ${scale.high} ${figure}`,
      overview: settings.layer === 'values' ? data.overview : undefined,
      norms: data.norms,
      blockWidth: info.group && info.group.elements > 1 ? info.group.elements : undefined,
      cursor,
      colors: mapColors(dark),
    }
    drawMap(element.getContext('2d')!, scene, ratio)
    element.dataset.sharp = String(isSharp(scene))
    element.dataset.place = Object.values(viewQuery(current)).join()
  }
  paint.current = paintNow
  // Not with every rendering: progress, for example, changes nothing here.
  const { scale, sigmas, colors, cells } = settings
  useLayoutEffect(
    () => draw.current(),
    [box, planeName, asked, data.overview, data.norms, values, far, cursor, scale, sigmas, colors, cells, dark],
  )

  const move = (wanted: MapView): void => {
    const next = clampView(wanted, plane)
    view.current = next
    props.onZoom(next)
    draw.current()
    clearTimeout(saving.current)
    saving.current = window.setTimeout(() => {
      const place = viewQuery(next)
      written.current = [place.x, place.y, place.z].join()
      setQuery(place)
    }, 250)
  }
  const saving = useRef(0)
  useEffect(() => () => clearTimeout(saving.current), [])
  const control: MapControl = {
    view: () => view.current ?? fitView(plane, size),
    size: () => size,
    plane: () => plane,
    cursor: () => cursor,
    move,
    setCursor: props.onCursor,
    fit() {
      clearTimeout(saving.current)
      view.current = fitView(plane, size)
      props.onZoom(view.current)
      setQuery({ x: '', y: '', z: '' })
      draw.current()
    },
    picture: () => new Promise((resolve) => canvas.current?.toBlob(resolve)),
  }
  props.onControl(control)
  const latest = useRef(control)
  latest.current = control
  useEffect(
    () =>
      listenForGestures(
        canvas.current!,
        () => latest.current,
        () => margin,
      ),
    [margin],
  )
  return (
    <div class="map" ref={room}>
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={label} aria-describedby="readout" />
    </div>
  )
}
