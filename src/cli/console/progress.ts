import { escapeName } from './escape.js'
import { formatDuration, formatSize } from './format-values.js'
import { shorten } from './width.js'

export interface ProgressState {
  readonly done: number
  readonly total: number
  readonly path: string
}

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

const delayMs = 500
const intervalMs = 100
const barWidth = 24

/** `[=========>              ]  40%  1.20 GiB of 3.00 GiB  850 MiB/s  0:02 left  blk.3.attn_k` cut to the width of the terminal. */
export function formatProgress(state: ProgressState, elapsedMs: number, width: number): string {
  const share = state.total > 0 ? Math.min(1, state.done / state.total) : 0
  const full = Math.round(share * barWidth)
  const bar = (full === barWidth ? '='.repeat(full) : `${'='.repeat(full)}>`).padEnd(barWidth).slice(0, barWidth)
  const rate = elapsedMs > 0 ? (state.done / elapsedMs) * 1000 : 0
  const left = rate > 0 ? `${formatDuration((state.total - state.done) / rate)} left` : '-:-- left'
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  const parts = [
    `[${bar}] ${percent}`,
    `${formatSize(state.done)} of ${formatSize(state.total)}`,
    `${formatSize(Math.round(rate))}/s`,
    left,
    escapeName(state.path),
  ]
  return shorten(parts.join('  '), Math.max(10, width - 1))
}

/** A bar on the terminal that standard error goes to; elsewhere, nothing. It shows only when the work takes a while. */
export class Progress {
  readonly #stream: Terminal
  readonly #now: () => number
  quiet = false
  #startedAt = 0
  #drawnAt = 0
  #visible = false
  /** Called when the bar appears and when it goes. */
  onChange: (isVisible: boolean) => void = () => {}

  constructor(stream: Terminal = process.stderr, now: () => number = () => performance.now()) {
    this.#stream = stream
    this.#now = now
  }

  /** A new piece of work begins. */
  start(): void {
    this.finish()
    this.#startedAt = this.#now()
    this.#drawnAt = this.#startedAt
  }

  readonly update = (state: ProgressState): void => {
    if (this.quiet || !this.#stream.isTTY) return
    const now = this.#now()
    if (now - this.#startedAt < delayMs || now - this.#drawnAt < intervalMs) return
    this.#drawnAt = now
    if (!this.#visible) this.onChange(true)
    this.#visible = true
    this.#stream.write(`\r\x1b[2K${formatProgress(state, now - this.#startedAt, this.#stream.columns || 80)}`)
  }

  /** Erases the bar, so that something else can be printed. */
  finish(): void {
    if (this.#visible) this.#stream.write('\r\x1b[2K')
    this.#hide()
  }

  /** Leaves the bar where it is, and says that it goes no further. */
  interrupt(): void {
    if (this.#visible) this.#stream.write('  interrupted\n')
    this.#hide()
  }

  #hide(): void {
    if (this.#visible) this.onChange(false)
    this.#visible = false
  }
}
