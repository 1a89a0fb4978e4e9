// Ways to a place: an offset, a field, a tensor, or bytes to look for.
import { useState } from 'preact/hooks'
import { ask } from '../../engine/session.js'
import { hexOffset } from '../../parts/format.js'
import { Work } from '../../parts/progress.js'
import { useWork } from '../../parts/use-work.js'
import { notify } from '../../state/announce.js'
import { setQuery } from '../../state/location.js'

interface PlaceProps {
  readonly model: number
  readonly file: number
  readonly onGo: (offset: number, length?: number) => void
}

/** Keys of the screen reach the fields and buttons by their names. */
export function focusField(name: 'goto' | 'next' | 'previous'): void {
  const found = document.querySelector<HTMLElement>(`.bytes [name=${name}]`)
  if (name === 'goto') found?.focus()
  else found?.click()
}

export function GoTo({ model, file, onGo }: PlaceProps) {
  const [text, setText] = useState('')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const found = await ask('bytePlace', { model, file, text })
    if (!found) {
      notify('there is no such offset, field or tensor')
      return
    }
    if (found.file !== file) setQuery({ file: String(found.file), at: hexOffset(found.offset), to: undefined })
    else onGo(found.offset, found.length)
  }
  return (
    <form onSubmit={(event) => void submit(event)}>
      <input
        name="goto"
        aria-label="Go to an offset, a field or a tensor"
        placeholder="Go to 0x1c8, a field, a tensor"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  )
}

export function FindBytes({ model, file, at, onGo }: PlaceProps & { readonly at: number }) {
  const [text, setText] = useState('')
  const find = useWork('byteFind')
  const search = async (isBackward: boolean): Promise<void> => {
    if (text === '') return
    const hit = await find.start({ model, file, text, from: isBackward ? at - 1 : at + 1, isBackward })
    if (hit === null) notify(isBackward ? 'nothing before this place' : 'nothing from here to the end')
    else if (hit !== undefined) onGo(hit)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void search(false)
      }}
    >
      <input
        type="search"
        aria-label="Find text, or bytes as 0x4747"
        placeholder="Find text, or 47 47 55 46"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <button type="button" name="previous" title="Previous (N)" onClick={() => void search(true)}>
        ↑<span class="spoken">Previous hit</span>
      </button>
      <button type="submit" name="next" title="Next (n)">
        ↓<span class="spoken">Next hit</span>
      </button>
      {find.progress && find.progress.done > 0 && (
        <Work title="Searching" {...find.progress} isBytes onCancel={find.cancel} />
      )}
    </form>
  )
}
