// Tensors that differ, the worst first.
import { useState } from 'preact/hooks'
import type { Difference } from 'tare'
import type { TensorDifference, TensorSide } from 'tare/kit'
import { countLabel, shapeLabel, typeLabel, valueText } from '../../parts/format.js'
import { BrokenName } from '../../parts/text.js'
import { address, goTo } from '../../state/location.js'

const step = 100

export function TensorDifferences({
  difference,
  chosen,
}: {
  readonly difference: Difference
  readonly chosen: string | undefined
}) {
  const [count, setCount] = useState(step)
  const { tensors } = difference
  if (tensors.length === 0) return null
  return (
    <section>
      <h2>Tensors that differ, the worst first</h2>
      <div class="scroll">
        <table class="differences">
          <thead>
            <tr>
              {['Tensor', 'Change', 'A', 'B', 'SNR', 'RMSE', 'Max error', 'Cosine'].map((title, i) => (
                <th key={title} scope="col" class={i > 3 ? 'number' : ''}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {tensors.slice(0, count).map((each) => (
              <Row key={`${each.change} ${each.name}`} tensor={each} isChosen={each.name === chosen} />
            ))}
          </tbody>
        </table>
      </div>
      {tensors.length > count && (
        <button type="button" onClick={() => setCount(count + 10 * step)}>
          Show more of {countLabel(tensors.length)}
        </button>
      )}
    </section>
  )
}

const words: Readonly<Record<TensorDifference['change'], string>> = {
  missing: 'only in A',
  extra: 'only in B',
  shape: 'shape',
  data: 'one has no data',
  values: 'values',
  type: 'type',
  bytes: 'bytes',
  renamed: 'renamed',
}

/** There are values on both sides, place by place. */
export const canLookAt = ({ a, b, change }: TensorDifference): boolean =>
  a !== undefined && b !== undefined && change !== 'shape' && change !== 'data'

const sideText = (side: TensorSide | undefined): string =>
  side ? `${typeLabel(side.dtype)} ${shapeLabel(side.shape.map(String))}` : ''

function Row({ tensor, isChosen }: { readonly tensor: TensorDifference; readonly isChosen: boolean }) {
  const { name, change, a, b, values, reason } = tensor
  const show = (): void => goTo('compare', name, address.peek().query.with ? { with: address.peek().query.with! } : {})
  return (
    <tr aria-selected={isChosen} class={isChosen ? 'chosen' : ''}>
      <th scope="row">
        {canLookAt(tensor) ? (
          <button type="button" class="link" onClick={show}>
            <BrokenName text={name} />
          </button>
        ) : (
          <BrokenName text={name} />
        )}
      </th>
      <td title={reason}>{words[change]}</td>
      <td>{sideText(a)}</td>
      <td>{sideText(b)}</td>
      <td class="number">{values ? (values.snr === null ? '–' : `${values.snr.toFixed(1)} dB`) : ''}</td>
      <td class="number">{values && valueText(values.rmse)}</td>
      <td class="number">{values && valueText(values.maxAbs)}</td>
      <td class="number">{values && (values.cosine === null ? '–' : values.cosine.toFixed(5))}</td>
    </tr>
  )
}
