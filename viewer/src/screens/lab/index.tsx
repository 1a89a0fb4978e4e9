// What quantization does: a part of a tensor before and after, every method on the tensor, and the whole model within a budget.
import { useCallback, useMemo, useState } from 'preact/hooks'
import { colorMapNamed, makeScale } from 'tare/kit'
import type { ScreenProps } from '../../app/screens.js'
import type { Crop } from '../../engine/rooms/compare.js'
import { type Progress, priorities } from '../../engine/wire.js'
import { CropChoice } from '../../parts/crop-choice.js'
import { valueText } from '../../parts/format.js'
import { TensorPicker } from '../../parts/tensor-picker.js'
import { useAnswer } from '../../parts/use-answer.js'
import { type Cell, ValueMap } from '../../parts/value-map.js'
import { address, goTo, setQuery } from '../../state/location.js'
import { Budget } from './budget-panel.js'
import { Plot } from './plot.js'
import './lab.css'
import '../../parts/maps.css'

const defaultMethod = 'q4_k'

export default function Lab({ model }: ScreenProps) {
  const { subject, query } = address.value
  const { answer: start, error } = useAnswer('labStart', { model: model.id, tensor: subject ?? '' })
  const method = query.method ?? defaultMethod
  const choose = useCallback((name: string): void => setQuery({ method: name }), [])
  if (error !== undefined) return <p class="waiting">{String(error)}</p>
  if (!start) return <p class="waiting">Reading…</p>
  return (
    <div class="lab">
      <header>
        <h1>Quantize</h1>
        <TensorPicker model={model.id} value={start.tensor ?? ''} onPick={(name) => goTo('lab', name, { method })} />
        <label>
          Method{' '}
          <select value={method} onChange={(event) => choose(event.currentTarget.value)}>
            {start.methods.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </header>
      {start.tensor === undefined ? (
        <p>{start.reason}</p>
      ) : (
        <>
          <Bench
            key={start.tensor}
            model={model.id}
            tensor={start.tensor}
            rows={start.rows}
            columns={start.columns}
            method={method}
          />
          <Methods model={model.id} tensor={start.tensor} method={method} onChoose={choose} />
        </>
      )}
      <Budget key={model.id} model={model} />
    </div>
  )
}

interface BenchProps {
  readonly model: number
  readonly tensor: string
  readonly rows: number
  readonly columns: number
  readonly method: string
}

const side = 256
/** Whole blocks of every method. */
const block = 256

function Bench({ model, tensor, rows, columns, method }: BenchProps) {
  const [corner, setCorner] = useState({ row: 0, column: 0 })
  const crop: Crop = { ...corner, height: Math.min(side, rows), width: Math.min(side, columns) }
  const { answer, error } = useAnswer('labCrop', { model, tensor, method, crop })
  const [cursor, setCursor] = useState<Cell>()
  const scales = useMemo(
    () => answer && { values: makeScale('sigma', answer.original), error: makeScale('sigma', answer.error) },
    [answer],
  )
  const values = colorMapNamed('blue-orange')!
  return (
    <section class="bench">
      <CropChoice
        model={model}
        name={tensor}
        rows={rows}
        columns={columns}
        crop={crop}
        step={block}
        onMove={(row, column) => setCorner({ row, column })}
      />
      <div class="stack">
        {error !== undefined && <p role="alert">{String(error)}</p>}
        {answer && scales && (
          <>
            <div class="maps">
              <ValueMap
                title="Original"
                values={answer.original}
                rows={answer.rows}
                columns={answer.columns}
                scale={scales.values}
                colors={values}
                cursor={cursor}
                onCursor={setCursor}
              />
              <ValueMap
                title={method}
                values={answer.result}
                rows={answer.rows}
                columns={answer.columns}
                scale={scales.values}
                colors={values}
                cursor={cursor}
                onCursor={setCursor}
              />
              <ValueMap
                title="Error"
                values={answer.error}
                rows={answer.rows}
                columns={answer.columns}
                scale={scales.error}
                colors={colorMapNamed('purple-green')!}
                cursor={cursor}
                onCursor={setCursor}
              />
            </div>
            <dl class="figures">
              {(
                [
                  ['Bits per weight', answer.bitsPerWeight.toFixed(2)],
                  ['RMSE', valueText(answer.rmse)],
                  ['SNR', answer.snr === null ? '–' : `${answer.snr.toFixed(1)} dB`],
                  ['Largest error', valueText(answer.maxAbs)],
                ] as const
              ).map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </>
        )}
      </div>
    </section>
  )
}

interface MethodsProps {
  readonly model: number
  readonly tensor: string
  readonly method: string
  readonly onChoose: (method: string) => void
}

function Methods({ model, tensor, method, onChoose }: MethodsProps) {
  const [progress, setProgress] = useState<Progress>({ done: 0, total: 0 })
  const { answer, error, isLoading } = useAnswer(
    'labTensor',
    { model, tensor },
    { priority: priorities.background, onProgress: setProgress },
  )
  return (
    <section>
      <h2>All methods on this tensor</h2>
      {error !== undefined && <p class="faint">{String(error)}</p>}
      {isLoading && (
        <p class="faint">Measuring… {progress.total > 0 && `${progress.done} of ${progress.total} methods`}</p>
      )}
      {answer && (
        <>
          <Plot points={answer.points} chosen={method} onChoose={onChoose} />
          <p class="faint">
            {answer.isSample ? 'Measured on a sample of its rows. ' : ''}Dots are types of ggml, squares methods of MCF;
            no method beats those on the line.
          </p>
        </>
      )}
    </section>
  )
}
