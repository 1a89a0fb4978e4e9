import { useState } from 'preact/hooks'
import type { MetadataDifference } from 'tare/kit'
import { countLabel } from '../../parts/format.js'
import { Name, visible } from '../../parts/text.js'

const step = 50
const maxText = 200

function textOf(value: MetadataDifference['a']): string {
  if (value === undefined) return '–'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return visible(text.length > maxText ? `${text.slice(0, maxText)}…` : text)
}

export function MetadataDifferences({ entries }: { readonly entries: readonly MetadataDifference[] }) {
  const [count, setCount] = useState(step)
  return (
    <section>
      <h2>Metadata that differs</h2>
      <div class="scroll">
        <table class="differences">
          <thead>
            <tr>
              {['Key', 'A', 'B'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {entries.slice(0, count).map(({ key, a, b }) => (
              <tr key={key}>
                <th scope="row">
                  <Name text={key} />
                </th>
                <td class="text">{textOf(a)}</td>
                <td class="text">{textOf(b)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {entries.length > count && (
        <button type="button" onClick={() => setCount(count + 10 * step)}>
          Show more of {countLabel(entries.length)}
        </button>
      )}
    </section>
  )
}
