// The parts of the screen, around one tensor whose place is known.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { colorMaps, scaleKinds } from 'tare/kit'
import { useKeys } from '../../app/keys.js'
import type { ScreenProps } from '../../app/screens.js'
import type { TensorInfo } from '../../engine/rooms/tensor/tensor.js'
import { ask } from '../../engine/session.js'
import type { MapView } from '../../engine/tiles/layout.js'
import { findingFrom } from '../../engine/wire.js'
import { FindingItem } from '../../parts/findings.js'
import { BrokenName, visibleName } from '../../parts/text.js'
import { address, goTo, setQuery } from '../../state/location.js'
import type { Cursor } from './draw-map.js'
import { HeatMap } from './map.js'
import { type MapControl, mapKeys, type TensorActions } from './map-keys.js'
import { Multiples } from './multiples.js'
import { Panel } from './panel/panel.js'
import type { Known } from './scale-of-level.js'
import { multiplesFrom, otherAxes, pictureWords, planeFrom, settingsFrom } from './settings.js'
import { Toolbar } from './toolbar.js'
import { useLayerMoments } from './use-layer-moments.js'
import { useTensorData } from './use-tensor-data.js'

export function TensorView({ model, info }: ScreenProps & { readonly info: TensorInfo }) {
  const { query } = address.value
  const settings = settingsFrom(query)
  const plane = useMemo(() => planeFrom(info.ref.shape, query), [info, query.axes, query.at])
  const data = useTensorData(info, plane)
  const all = multiplesFrom(info.ref.shape, plane, query)
  const [cursor, setCursor] = useState<Cursor>()
  const [view, setView] = useState<MapView>()
  const [error, setError] = useState<unknown>()
  const map = useRef<MapControl | undefined>(undefined)
  const values = useLayerMoments(info, plane, settings.layer, data.stats)
  const far = useMemo<Known | undefined>(
    () =>
      data.overview && settings.layer === 'values'
        ? { level: data.overviewLevel, moments: data.overview.moments[settings.cells] }
        : undefined,
    [data.overview, settings.cells, settings.layer],
  )
  const failure = error ?? data.error
  const title = visibleName(info.ref.name)

  const neighbour = async (step: -1 | 1): Promise<void> => {
    const view = { filter: '', sort: { by: 'file', isDescending: false }, isTree: false, toggled: [] } as const
    const { before, after } = await ask('neighbours', { model: model.id, index: info.ref.index, view })
    const next = step < 0 ? before : after
    // Scale and colours stay; the place does not mean anything there.
    const { x, y, z, axes, at, all: _, layer, ...kept } = address.peek().query
    if (next !== undefined) goTo('tensor', next, kept)
  }
  const cycle = <T,>(all: readonly T[], current: T | undefined): T => all[(all.indexOf(current as T) + 1) % all.length]!
  const words = pictureWords(model.argument, info.ref, plane, settings)
  const save = async (): Promise<void> => {
    const blob = await map.current?.picture()
    if (!blob) return
    const link = document.createElement('a')
    link.href = URL.createObjectURL(blob)
    link.download = `${info.ref.name.replace(/[^\w.-]+/g, '_')}.png`
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  }
  const actions: TensorActions = {
    map: map.current,
    go: (step) => void neighbour(step),
    nextScale: () => setQuery({ scale: cycle(scaleKinds, settings.scale) }),
    nextColors: () =>
      setQuery({
        colors: cycle(
          colorMaps.map(({ name }) => name),
          settings.colors,
        ),
      }),
    toggleMultiples() {
      const axis = plane.axes && otherAxes(info.ref.shape, plane.axes)[0]
      if (axis !== undefined) setQuery({ all: all === undefined ? String(axis) : '' })
    },
    save: () => void save(),
  }
  const latest = useRef(actions)
  latest.current = { ...actions, map: map.current }
  useKeys(
    'Tensor',
    useMemo(() => mapKeys(() => ({ ...latest.current, map: map.current })), []),
  )
  useEffect(() => setCursor(undefined), [info])
  return (
    <div class="tensor">
      <Toolbar
        info={info}
        settings={settings}
        view={view}
        data={data}
        actions={actions}
        hasMap={all === undefined}
        map={() => map.current}
      />
      {info.problem !== undefined || failure !== undefined ? (
        <div class="no-map">
          {info.problem ?? (
            <ul class="findings">
              <FindingItem finding={findingFrom(failure, info.file)} />
            </ul>
          )}
        </div>
      ) : all !== undefined ? (
        <Multiples key={all} info={info} plane={plane} axis={all} settings={settings} />
      ) : (
        <HeatMap
          info={info}
          plane={plane}
          settings={settings}
          data={data}
          values={values}
          far={far}
          cursor={cursor}
          label={`Heat map of ${title}, ${plane.rows} rows, ${plane.columns} columns. Arrow keys move a cursor.`}
          onCursor={setCursor}
          onControl={(control) => {
            map.current = control
          }}
          // What moves without zooming changes nothing outside of the map.
          onZoom={(next) => setView((before) => (before?.zoom === next.zoom ? before : next))}
          onError={setError}
        />
      )}
      <Panel
        model={model}
        info={info}
        plane={plane}
        settings={settings}
        data={data}
        values={values}
        far={far}
        zoom={view?.zoom ?? 0}
        cursor={cursor}
        words={words}
        onShow={(cell) => {
          setCursor(cell)
          map.current?.move({ x: cell.column + 0.5, y: cell.row + 0.5, zoom: Math.max(4, map.current.view().zoom) })
        }}
      />
    </div>
  )
}

export const TensorTitle = ({ info, line }: { readonly info: TensorInfo; readonly line: string }) => (
  <div>
    <h1>
      <BrokenName text={info.ref.name} />
    </h1>
    <p class="faint">{line}</p>
  </div>
)
