// Two models of any formats: what only one of them has, which metadata differs, and which values, the worst first. A tensor that differs
// can be looked at from both sides.

import { useEffect } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import { messageOf } from '../../engine/wire.js'
import { Command } from '../../parts/command.js'
import { Work } from '../../parts/progress.js'
import { visible } from '../../parts/text.js'
import { useWork } from '../../parts/use-work.js'
import { address, goTo } from '../../state/location.js'
import { models, type OpenedModel } from '../../state/models.js'
import { MetadataDifferences } from './metadata-differences.js'
import { Pair } from './pair.js'
import { Summary } from './summary.js'
import { canLookAt, TensorDifferences } from './tensor-differences.js'
import './compare.css'

/** Larger models are compared when somebody asks for it: every byte of both is read. */
const atOnce = 1 << 29
const limit = 2000

export default function Compare({ model }: ScreenProps) {
  const others = models.value.filter(({ id, status, head }) => id !== model.id && status === 'open' && head)
  const { query, subject } = address.value
  const other = others.find(({ id }) => String(id) === query.with) ?? others[0]
  return (
    <div class="compare">
      <header>
        <h1>Compare</h1>
        <p class="sides">
          <span>A {visible(model.title)}</span>
          {other && <OtherChoice others={others} other={other} />}
        </p>
      </header>
      {other ? (
        <Compared
          key={`${model.id} ${other.id}`}
          model={model}
          other={other as ScreenProps['model']}
          subject={subject}
        />
      ) : (
        <p>
          There is nothing to compare with yet. Drop another model anywhere on this page, or <a href="#/">open one</a>.
          Formats may differ: a quantized file can be compared with what it was made from.
        </p>
      )}
    </div>
  )
}

function OtherChoice({ others, other }: { readonly others: readonly OpenedModel[]; readonly other: OpenedModel }) {
  return (
    <label>
      B{' '}
      <select
        value={String(other.id)}
        onChange={(event) => goTo('compare', undefined, { with: event.currentTarget.value })}
      >
        {others.map(({ id, title }) => (
          <option key={id} value={String(id)}>
            {visible(title)}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ComparedProps {
  readonly model: ScreenProps['model']
  readonly other: ScreenProps['model']
  readonly subject: string | undefined
}

function Compared({ model, other, subject }: ComparedProps) {
  const work = useWork('compare')
  const start = (): void => void work.start({ a: model.id, b: other.id, limit })
  useEffect(() => {
    if (model.head.size + other.head.size <= atOnce) start()
  }, [])
  const { answer, progress, error } = work
  // The worst one, until another is chosen.
  const chosen = answer?.tensors.find((each) => (subject === undefined ? canLookAt(each) : each.name === subject))
  return (
    <>
      {progress && <Work title="Comparing" {...progress} isBytes onCancel={work.cancel} />}
      {!progress && !answer && (
        <p>
          <button type="button" class="primary" onClick={start}>
            Compare all values
          </button>
        </p>
      )}
      {error !== undefined && <p role="alert">{messageOf(error)}</p>}
      {answer && <Summary difference={answer} />}
      {chosen?.a && chosen.b && (
        <Pair key={chosen.name} a={model} b={other} difference={chosen} isChosen={subject !== undefined} />
      )}
      {answer && <TensorDifferences difference={answer} chosen={chosen?.name} />}
      {answer && answer.metadata.length > 0 && <MetadataDifferences entries={answer.metadata} />}
      <section>
        <h2>In a terminal</h2>
        <Command words={['tare', 'diff', model.argument, other.argument]} />
      </section>
    </>
  )
}
