// The values farthest from 0. Finding them reads the whole tensor, so that for large ones somebody has to ask.
import { useEffect, useState } from 'preact/hooks'
import type { Outlier } from '../../../engine/rooms/tensor/outliers.js'
import { askTensor } from '../../../engine/tensor-workers.js'
import { isAborted, priorities } from '../../../engine/wire.js'
import { sizeLabel, valueText } from '../../../parts/format.js'
import type { PanelProps } from './panel.js'

const count = 100
const few = 8
/** Bytes that are read without being asked. */
const maxUnasked = 64 * 2 ** 20

export function Outliers({ info, plane, data, onShow }: PanelProps) {
  const [isAsked, setAsked] = useState(info.bytes <= maxUnasked)
  const [progress, setProgress] = useState(0)
  const [found, setFound] = useState<readonly Outlier[]>()
  const [isOpen, setOpen] = useState(false)
  // The picture first: both read the whole tensor.
  const isNext = isAsked && data.overview?.isSample === false
  useEffect(() => {
    if (!isNext) return
    const abort = new AbortController()
    askTensor(
      'outliers',
      { tensor: info.ref, plane, count },
      {
        signal: abort.signal,
        priority: priorities.background,
        onProgress: ({ done, total }) => setProgress(done / total),
      },
    ).then(setFound, (error: unknown) => {
      if (!isAborted(error)) setFound([])
    })
    return () => abort.abort()
  }, [isNext])
  const { std, mean } = { std: data.stats?.std ?? 0, mean: data.stats?.mean ?? 0 }
  const sigmas = (value: number): string =>
    std > 0 ? `${Number((Math.abs(value - mean) / std).toPrecision(2))} σ` : ''
  return (
    <section class="outliers">
      <h2>Largest values</h2>
      {!isAsked && (
        <button type="button" onClick={() => setAsked(true)}>
          Find them (reads {sizeLabel(info.bytes)})
        </button>
      )}
      {isAsked && !found && <p class="faint">Reading… {Math.round(100 * progress)} %</p>}
      {found?.length === 0 && <p class="faint">None: no value is a number other than 0.</p>}
      {found && (
        <ol>
          {found.slice(0, isOpen ? count : few).map(({ row, column, value }) => (
            <li key={`${row} ${column}`}>
              <button type="button" class="quiet" onClick={() => onShow({ row, column })}>
                <span>{`[${row}, ${column}]`}</span>
                <span>{valueText(value)}</span>
                <span class="faint">{sigmas(value)}</span>
              </button>
            </li>
          ))}
        </ol>
      )}
      {found && found.length > few && (
        <button type="button" class="quiet" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Fewer' : `All ${found.length}`}
        </button>
      )}
    </section>
  )
}
