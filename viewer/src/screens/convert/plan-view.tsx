// The plan: how large the output is, what is lost, and what happens to tensors, metadata and parts.
import type { Loss } from 'tare'
import type { ActionCount, PlanSummary } from '../../engine/rooms/convert.js'
import { countLabel, sizeLabel, typeLabel } from '../../parts/format.js'
import { Name, visible } from '../../parts/text.js'

const lossWords: Readonly<Record<Loss, string>> = {
  none: 'nothing',
  form: 'only how it is written',
  precision: 'precision of values',
  content: 'content',
}

const subjects: Readonly<Record<ActionCount['subject'], readonly [one: string, many: string]>> = {
  tensor: ['tensor', 'tensors'],
  metadata: ['metadata entry', 'metadata entries'],
  part: ['part', 'parts'],
}

export function PlanView({ plan, isOld }: { readonly plan: PlanSummary; readonly isOld: boolean }) {
  const { size, files, loss, unrequestedLoss, actions, notes, peakMemory } = plan
  return (
    <section class="plan" aria-busy={isOld}>
      <dl>
        <div>
          <dt>Output</dt>
          <dd>
            {sizeLabel(size)}
            {files.length > 1 && ` in ${countLabel(files.length)} files`}
          </dd>
        </div>
        <div>
          <dt>Lost</dt>
          <dd class={`loss ${loss}`}>
            {lossWords[loss]}
            {loss !== 'none' && loss !== unrequestedLoss && ' (asked for)'}
          </dd>
        </div>
        <div>
          <dt>Memory</dt>
          <dd>{sizeLabel(peakMemory)} at most</dd>
        </div>
      </dl>
      {notes.length > 0 && (
        <ul class="notes">
          {notes.map((note) => (
            <li key={note}>{visible(note)}</li>
          ))}
        </ul>
      )}
      <ul class="actions">
        {actions.map((action) => (
          <Action key={`${action.action} ${action.subject} ${action.loss} ${action.examples[0]?.name}`} {...action} />
        ))}
      </ul>
    </section>
  )
}

function Action({ action, subject, loss, count, isRequested, examples }: ActionCount) {
  const [first] = examples
  const change = first?.from && first.to ? ` ${typeLabel(first.from)} → ${typeLabel(first.to)}` : ''
  return (
    <li>
      <details>
        <summary>
          <span class={`loss ${loss}`}>{loss === 'none' ? '' : lossWords[loss]}</span>
          <strong>
            {action}
            {visible(subject === 'tensor' ? change : '')}
          </strong>
          <span>
            {countLabel(count)} {subjects[subject][count === 1 ? 0 : 1]}
            {isRequested && ', as asked'}
          </span>
        </summary>
        <ul>
          {examples.map(({ name, reason }) => (
            <li key={name}>
              <Name text={name} /> {reason && <span class="faint">{visible(reason)}</span>}
            </li>
          ))}
          {count > examples.length && <li class="faint">and {countLabel(count - examples.length)} more</li>}
        </ul>
      </details>
    </li>
  )
}
