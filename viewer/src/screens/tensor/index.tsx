// One tensor: the map in the middle, beside it what is under the cursor, how values are spread, and where the largest are.
import { useEffect } from 'preact/hooks'
import type { ScreenProps } from '../../app/screens.js'
import { Name, visibleName } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'
import { address, go } from '../../state/location.js'
import { TensorView } from './tensor-view.js'
import './tensor.css'

export default function TensorScreen({ model }: ScreenProps) {
  const { subject } = address.value
  const { answer: info, isLoading } = useAnswer(
    'tensor',
    subject === undefined ? undefined : { model: model.id, name: subject },
  )
  // A name can be empty; so can what follows the last slash of an address that somebody typed.
  if (subject === undefined || (subject === '' && !isLoading && !info)) return <Choose />
  if (!isLoading && !info)
    return (
      <p class="waiting">
        There is no tensor <Name text={subject} /> in this model.{' '}
        <a href={`#/f/${model.id}/tensors`}>Show all tensors</a>
      </p>
    )
  if (!info || info.ref.name !== subject) return <p class="waiting">Opening {visibleName(subject)}…</p>
  return <TensorView key={`${model.id} ${info.ref.index}`} model={model} info={info} />
}

/** Without a name in the address, the largest tensor is a good one to begin with. */
function Choose() {
  const view = { filter: '', sort: { by: 'size', isDescending: true }, isTree: false, toggled: [] } as const
  const { answer } = useAnswer('tableNames', { model: address.value.model ?? 0, view, max: 1 })
  const name = answer?.[0]
  useEffect(() => {
    if (name !== undefined)
      go({ model: address.peek().model, screen: 'tensor', subject: name, query: {} }, { replace: true })
  }, [name])
  return <p class="waiting">{answer && answer.length === 0 ? 'This file has no tensors.' : 'Loading…'}</p>
}
