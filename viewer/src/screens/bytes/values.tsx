// The bytes under the cursor, read as every type.
import { useMemo, useState } from 'preact/hooks'
import { visible } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { readValues } from './read-values.js'

interface ValuesProps {
  readonly model: number
  readonly file: number
  readonly at: number
  readonly size: number
}

const length = 32

export function Values({ model, file, at, size }: ValuesProps) {
  const [isBigEndian, setBigEndian] = useState(false)
  const { answer } = useAnswer('byteRead', { model, file, offset: at, length: Math.min(length, size - at) })
  const values = useMemo(() => (answer ? readValues(answer, isBigEndian) : []), [answer, isBigEndian])
  return (
    <section class="values">
      <header>
        <h2>Values here</h2>
        <label>
          <input
            type="checkbox"
            checked={isBigEndian}
            onChange={(event) => setBigEndian(event.currentTarget.checked)}
          />{' '}
          big-endian
        </label>
      </header>
      <dl>
        {values.map(({ type, text }) => (
          <div key={type}>
            <dt>{type}</dt>
            <dd>{visible(text)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
