// The keys of the page. Those of the shell are always there; a screen adds its own while it is shown.
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

export interface KeyBinding {
  /** As `KeyboardEvent.key` names them; several do the same. */
  readonly keys: readonly string[]
  /** How the table of keys shows them. Default: the keys. */
  readonly shown?: string | undefined
  readonly title: string
  run(key: string): void
}

interface Group {
  readonly title: string
  readonly bindings: readonly KeyBinding[]
}

/** The last group added is asked first. */
export const keyGroups = signal<readonly Group[]>([])

export function addKeys(title: string, bindings: readonly KeyBinding[]): () => void {
  const group = { title, bindings }
  keyGroups.value = [...keyGroups.peek(), group]
  return () => {
    keyGroups.value = keyGroups.peek().filter((each) => each !== group)
  }
}

/** For as long as the component is shown. The bindings must not change between renderings, or be made with `useMemo`. */
export function useKeys(title: string, bindings: readonly KeyBinding[]): void {
  useEffect(() => addKeys(title, bindings), [title, bindings])
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input:not([type=range], [type=checkbox]), textarea, select')

const moves = /^(Arrow|Page|Home$|End$)/

/** A button that has the focus is pressed by Enter, and a slider moved by arrows, whatever the screen does with these keys. */
function isOwnKey(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.matches('input[type=range], .command code')) return moves.test(key)
  return target.matches('button, a[href], summary, input[type=checkbox]') && (key === 'Enter' || key === ' ')
}

export function handleKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
  if (isTyping(event.target)) {
    if (event.key === 'Escape') (event.target as HTMLElement).blur()
    return
  }
  if (isOwnKey(event.target, event.key) || document.querySelector('dialog[open]')) return
  for (const { bindings } of keyGroups.peek().toReversed()) {
    const found = bindings.find(({ keys }) => keys.includes(event.key))
    if (!found) continue
    event.preventDefault()
    found.run(event.key)
    return
  }
}
