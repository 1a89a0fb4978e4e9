import type { Difference } from 'tare'
import { countLabel } from '../../parts/format.js'

export function Summary({ difference }: { readonly difference: Difference }) {
  const { tensors, metadata, parts } = difference.summary
  const rows = [
    ['Tensors', tensors] as const,
    ...(metadata ? [['Metadata', metadata] as const] : []),
    ...(parts ? [['Parts', parts] as const] : []),
  ]
  return (
    <section class="summary">
      <p class={`verdict ${difference.equal ? 'ok' : 'warnings'}`}>
        {difference.equal ? 'The two models are equal' : 'The two models differ'}
      </p>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <td />
              {['equal', 'changed', 'only in A', 'only in B', 'renamed'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([title, counts]) => (
              <tr key={title}>
                <th scope="row">{title}</th>
                {[
                  counts.equal,
                  counts.changed,
                  counts.missing,
                  counts.extra,
                  'renamed' in counts ? counts.renamed : 0,
                ].map((count, i) => (
                  <td key={i}>{countLabel(count)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}
