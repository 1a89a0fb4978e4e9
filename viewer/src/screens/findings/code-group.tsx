import { useState } from 'preact/hooks'
import { FindingItem } from '../../parts/findings.js'
import { countLabel } from '../../parts/format.js'
import { visible } from '../../parts/text.js'
import type { GroupedFindings } from './group-by-code.js'

const step = 20

export function CodeGroup({
  code,
  severity,
  findings,
  text,
}: GroupedFindings & { readonly text?: string | undefined }) {
  const [count, setCount] = useState(step)
  return (
    <section class={`code-group ${severity}`}>
      <header>
        <h2>
          <code>{visible(code)}</code>
        </h2>
        <span class="faint">{countLabel(findings.length)}</span>
      </header>
      {text && <p class="meaning">{text}</p>}
      <ul class="findings">
        {findings.slice(0, count).map((finding, i) => (
          <FindingItem key={`${i} ${finding.code}`} finding={finding} />
        ))}
      </ul>
      {findings.length > count && (
        <button type="button" onClick={() => setCount(count + 10 * step)}>
          Show more of {countLabel(findings.length)}
        </button>
      )}
    </section>
  )
}
