// Metadata with a search over keys and values. A long value opens below its row.
import { useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import type { MetadataRow } from '../../engine/rooms/metadata.js'
import { countLabel } from '../../parts/format.js'
import { Name, visible, visibleLines } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { ListHead } from './list-head.js'

const step = 100

export function MetadataList({ model }: ScreenProps) {
  const [search, setSearch] = useState('')
  const [count, setCount] = useState(step)
  const { answer } = useAnswer('metadata', { model: model.id, search, from: 0, to: count })
  if (model.head.metadata === 0)
    return (
      <section class="metadata">
        <h2>Metadata</h2>
        <p class="faint">This file has none.</p>
      </section>
    )
  return (
    <section class="metadata">
      <ListHead
        title="Metadata"
        placeholder="Search keys and values"
        label="Search the metadata"
        value={search}
        onSearch={setSearch}
      />
      <dl>
        {answer?.rows.map((row) => (
          <Entry key={row.key} row={row} model={model.id} />
        ))}
      </dl>
      {answer?.total === 0 && <p class="faint">Nothing matches.</p>}
      {answer && answer.total > answer.rows.length && (
        <button type="button" onClick={() => setCount(count + step)}>
          Show more of {countLabel(answer.total)}
        </button>
      )}
    </section>
  )
}

function Entry({ row, model }: { readonly row: MetadataRow; readonly model: number }) {
  const [isOpen, setOpen] = useState(false)
  const { answer } = useAnswer('metadataText', isOpen ? { model, key: row.key } : undefined)
  return (
    <div class="entry">
      <dt>
        <Name text={row.key} />
        <span class="type">{row.type}</span>
      </dt>
      <dd>
        {row.isCut ? (
          <button type="button" class="value" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {visible(row.text)}
          </button>
        ) : (
          visible(row.text)
        )}
        {isOpen && answer !== undefined && <pre>{visibleLines(answer)}</pre>}
      </dd>
    </div>
  )
}
