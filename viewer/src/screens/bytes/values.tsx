// The bytes under the cursor, read as every type.
import { useState } from 'preact/hooks'
import { visible } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'

interface ValuesProps {
  readonly model: number
  readonly file: number
  readonly at: number
}

export function Values({ model, file, at }: ValuesProps) {
  const [isBigEndian, setBigEndian] = useState(false)
  const { answer: values } = useAnswer('byteValues', { model, file, offset: at, isBigEndian })
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
        {values?.map(({ type, text }) => (
          <div key={type}>
            <dt>{type}</dt>
            <dd>{visible(text)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
