// The tokens that the model knows, by id or by text.
import { useState } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import { countLabel } from '../../parts/format.js'
import { visible } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { ListHead } from './list-head.js'

const step = 60

export function VocabularyList({ model }: ScreenProps) {
  const [search, setSearch] = useState('')
  const [from, setFrom] = useState(0)
  const { answer } = useAnswer('vocabulary', { model: model.id, search, from, to: from + step })
  if (!answer || (answer.total === 0 && search === '')) return null
  const find = (text: string): void => {
    setFrom(0)
    setSearch(text)
  }
  return (
    <section class="vocabulary">
      <ListHead
        title="Vocabulary"
        placeholder="Text, or #id"
        label="Search the vocabulary"
        value={search}
        onSearch={find}
      />
      <ol>
        {answer.rows.map(({ id, text }) => (
          <li key={id}>
            <span class="faint">{id}</span> <span class="token">{visible(text)}</span>
          </li>
        ))}
      </ol>
      <footer>
        <button type="button" class="quiet" disabled={from === 0} onClick={() => setFrom(Math.max(0, from - step))}>
          Back
        </button>
        <span class="faint">
          {answer.total === 0
            ? 'Nothing matches.'
            : `${countLabel(from + 1)}–${countLabel(Math.min(from + step, answer.total))} of ${countLabel(answer.total)}`}
        </span>
        <button type="button" class="quiet" disabled={from + step >= answer.total} onClick={() => setFrom(from + step)}>
          Next
        </button>
      </footer>
    </section>
  )
}
