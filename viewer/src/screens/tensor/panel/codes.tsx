// How often each code of a quantized tensor occurs: a method that leaves codes unused, or crowds the outer ones, shows here.
import { useEffect, useState } from 'preact/hooks'
import type { CodeLevels } from '../../../engine/rooms/tensor/code-levels.js'
import type { TensorInfo } from '../../../engine/rooms/tensor/tensor.js'
import type { Plane } from '../../../engine/rooms/tensor/tiles.js'
import { askTensor } from '../../../engine/tensor-workers.js'
import { priorities } from '../../../engine/wire.js'
import { countLabel } from '../../../parts/format.js'

/** Undefined where the type has no codes, and until they are counted, which begins when it is their turn. */
export function useCodeLevels(info: TensorInfo, plane: Plane, isNext: boolean): CodeLevels | undefined {
  const [found, setFound] = useState<CodeLevels>()
  const canRead = isNext && info.hasCodes && info.problem === undefined
  const { axes } = plane
  const { length } = info.ref.shape
  const isTurned = axes !== undefined && (axes[0] !== length - 2 || axes[1] !== length - 1)
  useEffect(() => {
    setFound(undefined)
    if (!canRead || isTurned) return
    const abort = new AbortController()
    const options = { signal: abort.signal, priority: priorities.background }
    askTensor('codeLevels', { tensor: info.ref, plane }, options).then(setFound, () => {})
    return () => abort.abort()
  }, [info, plane, canRead])
  return found
}

const height = 64

export function Codes({ codes, at }: { readonly codes: CodeLevels; readonly at: number | undefined }) {
  const { first, counts, count, isSample } = codes
  const top = Math.max(...counts, 1)
  const last = first + counts.length - 1
  const unused = counts.filter((each) => each === 0).length
  const share = (each: number): string => `${Number(((100 * each) / Math.max(1, count)).toPrecision(3))} %`
  const outer = share((counts[0] ?? 0) + (counts.length > 1 ? counts.at(-1)! : 0))
  return (
    <section class="codes">
      <h2>Codes</h2>
      <svg
        viewBox={`0 0 ${counts.length} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`How often each code from ${first} to ${last} occurs`}
      >
        {counts.map((each, i) => {
          const size = (height * each) / top
          return (
            <rect
              key={first + i}
              class={at === first + i ? 'at' : ''}
              x={i + (counts.length > 64 ? 0 : 0.06)}
              y={height - size}
              width={counts.length > 64 ? 1 : 0.88}
              height={size}
            >
              <title>{`${first + i}: ${countLabel(each)}, ${share(each)}`}</title>
            </rect>
          )
        })}
      </svg>
      <div class="labels">
        <span>{String(first).replace('-', '−')}</span>
        <span>{last}</span>
      </div>
      <p class="faint">
        {`${outer} at the ends${unused > 0 ? `, ${unused} of ${counts.length} unused` : ''}; from ${isSample ? 'a sample of ' : ''}${countLabel(count)} codes`}
      </p>
    </section>
  )
}
