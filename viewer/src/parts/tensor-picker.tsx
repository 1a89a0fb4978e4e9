// Choosing a tensor by typing a part of its name.
import { useState } from 'preact/hooks'
import { visible } from './text.js'
import { useAnswer } from './use-answer.js'

interface PickerProps {
  readonly model: number
  readonly value: string
  readonly onPick: (name: string) => void
}

const maxNames = 50

export function TensorPicker({ model, value, onPick }: PickerProps) {
  const [text, setText] = useState<string>()
  // What would be a condition of the filter is only a part of a name here.
  const filter = (text ?? '').replace(/[\s:<>=*"']+/g, '*')
  const view = {
    filter: filter === '' ? '' : `*${filter}*`,
    sort: { by: 'file', isDescending: false },
    isTree: false,
    toggled: [],
  } as const
  const { answer: names } = useAnswer('tableNames', text === undefined ? undefined : { model, view, max: maxNames })
  const take = (chosen: string): void => {
    setText(undefined)
    if (chosen !== '' && chosen !== value) onPick(chosen)
  }
  return (
    <label class="picker">
      Tensor
      <input
        type="search"
        list="tensor-names"
        value={text ?? value}
        onFocus={(event) => {
          setText('')
          event.currentTarget.select()
        }}
        onInput={(event) => {
          const typed = event.currentTarget.value
          if (names?.includes(typed)) take(typed)
          else setText(typed)
        }}
        onChange={(event) =>
          take(names?.includes(event.currentTarget.value) ? event.currentTarget.value : (names?.[0] ?? ''))
        }
        onBlur={() => setText(undefined)}
      />
      <datalist id="tensor-names">
        {names?.map((name) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </datalist>
    </label>
  )
}
