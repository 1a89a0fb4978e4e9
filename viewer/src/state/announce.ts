// What screen readers are told: the value under the cursor of a map, a copied command, a finished check.
import { signal } from '@preact/signals'

export const announcement = signal('')

/** Shown for a moment as well. */
export const notice = signal<{ readonly text: string; readonly id: number } | undefined>(undefined)

let count = 0

export function announce(text: string): void {
  announcement.value = text
}

export function notify(text: string): void {
  const id = ++count
  notice.value = { text, id }
  announcement.value = text
  setTimeout(() => {
    if (notice.peek()?.id === id) notice.value = undefined
  }, 2500)
}
