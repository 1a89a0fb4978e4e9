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
          <span class="severity">{severity}</span> <code>{visible(code)}</code>
        </h2>
        {findings.length > 1 && <span class="faint">{countLabel(findings.length)} times</span>}
      </header>
      {text && <p class="meaning">{text}</p>}
      <ul class="findings">
        {findings.slice(0, count).map((finding, i) => (
          <FindingItem key={`${i} ${finding.code}`} finding={finding} isGrouped />
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
