// What quantization does: a part of a tensor before and after, every method on the tensor, and the whole model within a budget.
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { colorMapNamed, makeScale } from 'tare/kit'
import type { ScreenProps } from '../../app/screens.js'
import type { MeasuredTensor } from '../../engine/rooms/lab/measure.js'
import type { TensorRef } from '../../engine/rooms/tensor/tensor.js'
import { askTensor } from '../../engine/tensor-workers.js'
import { isAborted, messageOf, type Progress, priorities } from '../../engine/wire.js'
import { Command } from '../../parts/command.js'
import { CropMaps, useCrop } from '../../parts/crop-maps.js'
import { valueText } from '../../parts/format.js'
import { tensorCommand } from '../../parts/shell.js'
import { TensorPicker } from '../../parts/tensor-picker.js'
import { useAnswer } from '../../parts/use-answer.js'
import { address, goTo, setQuery } from '../../state/location.js'
import { Budget } from './budget-panel.js'
import { Plot } from './plot.js'
import './lab.css'

const defaultMethod = 'q4_k'

export default function Lab({ model }: ScreenProps) {
  const { subject, query } = address.value
  const { answer: start, error } = useAnswer('labStart', { model: model.id, tensor: subject })
  const method = query.method ?? defaultMethod
  const choose = useCallback((name: string): void => setQuery({ method: name }), [])
  if (error !== undefined) return <p class="waiting">{messageOf(error)}</p>
  if (!start) return <p class="waiting">Reading…</p>
  return (
    <div class="lab">
      <header>
        <h1>Quantize</h1>
        <TensorPicker
          model={model.id}
          value={start.tensor?.name ?? ''}
          onPick={(name) => goTo('lab', name, { method })}
        />
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
            key={start.tensor.index}
            model={model.id}
            tensor={start.tensor.name}
            rows={start.rows}
            columns={start.columns}
            method={method}
          />
          <Methods key={start.tensor.index} tensor={start.tensor} method={method} onChoose={choose} />
          <Command words={pictureWords(model.argument, start.tensor.name)} />
        </>
      )}
      <Budget key={model.id} model={model} />
    </div>
  )
}

const pictureWords = (file: string, tensor: string): readonly string[] =>
  tensorCommand('picture', file, tensor, ['--kind', 'methods', '-o', 'methods.png'])

interface BenchProps {
  readonly model: number
  readonly tensor: string
  readonly rows: number
  readonly columns: number
  readonly method: string
}

const side = 512
/** Whole blocks of every method. */
const block = 256

function Bench({ model, tensor, rows, columns, method }: BenchProps) {
  const place = useCrop(rows, columns, { side })
  const { answer, error } = useAnswer('labCrop', { model, tensor, method, crop: place.crop })
  const maps = useMemo(() => {
    if (!answer) return []
    const values = { scale: makeScale('sigma', answer.original), colors: colorMapNamed('blue-orange')! }
    const apart = { scale: makeScale('sigma', answer.error), colors: colorMapNamed('purple-green')! }
    return [
      { title: 'Original', values: answer.original, ...values },
      { title: 'Result', values: answer.result, ...values },
      { title: 'Error', values: answer.error, ...apart },
    ]
  }, [answer])
  return (
    <section class="bench">
      {error !== undefined && <p role="alert">{messageOf(error)}</p>}
      <CropMaps model={model} name={tensor} rows={rows} columns={columns} place={place} step={block} maps={maps}>
        {answer && (
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
        )}
      </CropMaps>
    </section>
  )
}

interface MethodsProps {
  readonly tensor: TensorRef
  readonly method: string
  readonly onChoose: (method: string) => void
}

function Methods({ tensor, method, onChoose }: MethodsProps) {
  const [progress, setProgress] = useState<Progress>({ done: 0, total: 0 })
  const [answer, setAnswer] = useState<MeasuredTensor>()
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const abort = new AbortController()
    const options = { signal: abort.signal, priority: priorities.background, onProgress: setProgress }
    askTensor('measure', { tensor }, options).then(setAnswer, (failure: unknown) => {
      if (!isAborted(failure)) setError(failure)
    })
    return () => abort.abort()
  }, [tensor.model, tensor.index])
  const isLoading = !answer && error === undefined
  return (
    <section>
      <h2>All methods on this tensor</h2>
      {error !== undefined && <p class="faint">{messageOf(error)}</p>}
      {isLoading && (
        <p class="faint">Measuring… {progress.total > 0 && `${progress.done} of ${progress.total} methods`}</p>
      )}
      {answer?.points.every(({ snr }) => snr === null) && (
        <p class="faint">No method takes this tensor: its rows are no whole blocks, or its values no numbers.</p>
      )}
      {answer?.points.some(({ snr }) => snr !== null) && (
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
