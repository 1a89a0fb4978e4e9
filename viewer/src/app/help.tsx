// All keys that do something now.

import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { keyGroups } from './keys.js'

const isHelpOpen = signal(false)

export const showHelp = (): void => {
  isHelpOpen.value = true
}

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  const isOpen = isHelpOpen.value
  useEffect(() => {
    if (isOpen) dialog.current?.showModal()
    else dialog.current?.close()
  }, [isOpen])
  const close = (): void => {
    isHelpOpen.value = false
  }
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <header>
        <h2 id="help-title">Keys</h2>
        <button type="button" class="quiet" onClick={close}>
          Close
        </button>
      </header>
      {isOpen &&
        keyGroups.value.toReversed().map(({ title, bindings }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {bindings.map(({ keys, shown, title }) => (
                <div key={title}>
                  <dt>
                    <kbd>{shown ?? keys.join(' ')}</kbd>
                  </dt>
                  <dd>{title}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
    </dialog>
  )
}
