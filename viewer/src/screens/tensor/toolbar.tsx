// What is shown and how: layer, scale, colours, zoom.
import { cellFigures, colorMaps, scaleKinds } from 'tare/kit'
import { layers } from '../../engine/rooms/tensor/layers.js'
import type { TensorInfo } from '../../engine/rooms/tensor/tensor.js'
import { levelFor, type MapView } from '../../engine/tiles/layout.js'
import { shapeLabel, sizeLabel, typeLabel } from '../../parts/format.js'
import { setQuery } from '../../state/location.js'
import type { MapControl, TensorActions } from './map-keys.js'
import { defaultScale, type Settings } from './settings.js'
import { TensorTitle } from './tensor-view.js'
import type { TensorData } from './use-tensor-data.js'

const scaleTitles = {
  sigma: '± 3 σ',
  minmax: 'Min to max',
  log: 'Logarithm',
  sign: 'Sign',
  exponent: 'Exponent',
} as const
const figureTitles = { mean: 'Cells: mean', rms: 'Cells: RMS', min: 'Cells: min', max: 'Cells: max' } as const

interface ToolbarProps {
  readonly info: TensorInfo
  readonly settings: Settings
  readonly view: MapView | undefined
  readonly data: TensorData
  readonly actions: TensorActions
  /** One plane is shown, which can be zoomed. */
  readonly hasMap: boolean
  map(): MapControl | undefined
}

export function Toolbar({ info, settings, view, data, actions, hasMap, map }: ToolbarProps) {
  const { ref, dims, bytes } = info
  const zoom = view?.zoom ?? 0
  const level = levelFor(zoom)
  return (
    <header class="toolbar">
      <div class="title">
        <span class="steps">
          <button
            type="button"
            class="quiet"
            aria-label="Tensor before"
            title="Tensor before ([)"
            onClick={() => actions.go(-1)}
          >
            ‹
          </button>
          <button
            type="button"
            class="quiet"
            aria-label="Next tensor"
            title="Next tensor (])"
            onClick={() => actions.go(1)}
          >
            ›
          </button>
        </span>
        <TensorTitle info={info} line={`${typeLabel(ref.type)} · ${shapeLabel(dims)} · ${sizeLabel(bytes)}`} />
      </div>
      <div class="controls">
        {info.hasCodes && (
          <Choice
            label="Layer"
            value={settings.layer}
            options={layers.map((layer) => [layer, layer[0]!.toUpperCase() + layer.slice(1)])}
            onChange={(layer) => setQuery({ layer: layer === 'values' ? '' : layer, scale: '' })}
          />
        )}
        <Choice
          label="Scale"
          value={settings.scale}
          options={scaleKinds.map((kind) => [kind, kind === 'sigma' ? `± ${settings.sigmas} σ` : scaleTitles[kind]])}
          onChange={(scale) => setQuery({ scale: scale === defaultScale(settings.layer) ? '' : scale })}
        />
        {settings.scale === 'sigma' && (
          <input
            type="range"
            aria-label="Standard deviations"
            min="0.5"
            max="10"
            step="0.5"
            value={settings.sigmas}
            onInput={(event) => setQuery({ k: event.currentTarget.value === '3' ? '' : event.currentTarget.value })}
          />
        )}
        <Choice
          label="Colours"
          value={settings.colors ?? ''}
          options={[['', 'Colours: auto'], ...colorMaps.map(({ name }) => [name, name] as const)]}
          onChange={(colors) => setQuery({ colors })}
        />
        {(level > 0 || !hasMap) && settings.layer === 'values' && (
          <Choice
            label="What a pixel shows"
            value={settings.cells}
            options={cellFigures.map((figure) => [figure, figureTitles[figure]])}
            onChange={(cells) => setQuery({ cells: cells === 'mean' ? '' : cells })}
          />
        )}
        {hasMap && (
          <div class="zoom">
            <button type="button" class="quiet" aria-label="Zoom out" title="Zoom out (-)" onClick={() => zoomBy(-1)}>
              −
            </button>
            <button type="button" class="quiet" title="A pixel for each value (0)" onClick={() => zoomTo(0)}>
              {zoomLabel(zoom)}
            </button>
            <button type="button" class="quiet" aria-label="Zoom in" title="Zoom in (+)" onClick={() => zoomBy(1)}>
              +
            </button>
            <button type="button" class="quiet" title="Show all of it (f)" onClick={() => map()?.fit()}>
              Fit
            </button>
            <button type="button" class="quiet" title="Save the view (p)" onClick={actions.save}>
              PNG
            </button>
          </div>
        )}
      </div>
      {data.overview?.isSample && level >= data.overviewLevel && data.overviewLevel > 0 && (
        <p class="sampled">
          A first look, from a sample of the rows
          {data.progress ? `: ${Math.round(100 * data.progress)} % of the whole is read` : ''}
        </p>
      )}
    </header>
  )

  function zoomTo(next: number): void {
    const control = map()
    control?.move({ ...control.view(), zoom: next })
  }
  function zoomBy(by: number): void {
    const control = map()
    if (control) zoomTo(Math.round(control.view().zoom) + by)
  }
}

/** 1:4 shows four values a pixel each way, 8:1 eight pixels a value. */
function zoomLabel(zoom: number): string {
  const short = (factor: number): string => String(Number(factor.toPrecision(2)))
  return zoom >= 0 ? `${short(2 ** zoom)}:1` : `1:${short(2 ** -zoom)}`
}

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [value: string, title: string])[]
  onChange(value: string): void
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select aria-label={label} title={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([each, title]) => (
        <option key={each} value={each}>
          {title}
        </option>
      ))}
    </select>
  )
}
