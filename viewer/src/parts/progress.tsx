// Work that takes a while: how far it is, and a way to end it.
import { sizeLabel } from './format.js'

interface WorkProps {
  readonly title: string
  readonly done: number
  readonly total: number
  /** Counts are bytes. */
  readonly isBytes?: boolean
  readonly onCancel: () => void
}

export function Work({ title, done, total, isBytes = false, onCancel }: WorkProps) {
  const share = total > 0 ? Math.min(1, done / total) : 0
  const label = isBytes ? `${sizeLabel(done)} of ${sizeLabel(total)}` : `${done} of ${total}`
  return (
    <div class="work">
      <progress max={1} value={share} aria-label={title} />
      <span class="faint">{total > 0 ? `${title}: ${label}` : title}</span>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  )
}
