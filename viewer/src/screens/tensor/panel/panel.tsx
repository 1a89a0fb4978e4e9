// Beside the map: the value under the cursor, other axes, colours, statistics, outliers, and the command that draws the same.
import { useState } from 'preact/hooks'
import { colorMapNamed, colorsFor, type Moments, type Scale } from 'tare/kit'
import type { ScreenProps } from '../../../app/screens.js'
import type { TensorInfo } from '../../../engine/rooms/tensor/tensor.js'
import type { CellFacts, Plane } from '../../../engine/rooms/tensor/tiles.js'
import { levelFor } from '../../../engine/tiles/layout.js'
import { ColorBar } from '../../../parts/color-bar.js'
import { Command } from '../../../parts/command.js'
import { tensorCommand } from '../../../parts/shell.js'
import type { Cursor } from '../draw-map.js'
import { type Known, scaleAt } from '../scale-of-level.js'
import type { Settings } from '../settings.js'
import type { TensorData } from '../use-tensor-data.js'
import { Axes } from './axes.js'
import { Codes, useCodeLevels } from './codes.js'
import { Histogram } from './histogram.js'
import { levelsOf } from './levels.js'
import { Outliers } from './outliers.js'
import { Readout } from './readout.js'
import { Statistics } from './statistics.js'

export interface PanelProps extends ScreenProps {
  readonly info: TensorInfo
  readonly plane: Plane
  readonly settings: Settings
  readonly data: TensorData
  readonly values: Moments | undefined
  readonly far: Known | undefined
  readonly zoom: number
  readonly cursor: Cursor | undefined
  /** Absent where no command draws what the map shows. */
  readonly words: readonly string[] | undefined
  onShow(cell: Cursor): void
}

export function Panel(props: PanelProps) {
  const { info, plane, settings, values, far, zoom, data, words } = props
  const [facts, setFacts] = useState<CellFacts>()
  // The picture and its figures first.
  const codes = useCodeLevels(info, plane, data.stats !== undefined && data.overview?.isSample === false)
  const levels = codes && levelsOf(codes, facts)
  const scale: Scale = scaleAt(settings.scale, levelFor(zoom), values, far, settings.sigmas)
  const colors = (settings.colors && colorMapNamed(settings.colors)) || colorsFor(scale)
  return (
    <aside class="panel" aria-label="About the tensor">
      <Readout {...props} facts={facts} onFacts={setFacts} />
      {info.ref.shape.length > 2 && <Axes {...props} />}
      {info.problem === undefined && (
        <>
          <ColorBar scale={scale} colors={colors} />
          {data.stats && (
            <Histogram
              stats={data.stats}
              scale={settings.layer === 'values' ? scale : undefined}
              levels={levels}
              levelsOf={facts?.scale === undefined ? 'a typical block' : 'the block under the cursor'}
            />
          )}
          {codes && <Codes codes={codes} at={facts?.code} />}
          {data.stats && <Statistics stats={data.stats} />}
          <Outliers key={`${info.ref.index} ${JSON.stringify(props.plane)}`} {...props} />
        </>
      )}
      <section>
        <h2>In a terminal</h2>
        {words && <Command words={words} />}
        <Command
          words={tensorCommand('extract', props.model.argument, info.ref.name, ['--as', 'f32', '-o', 'tensor.npy'])}
        />
      </section>
    </aside>
  )
}
