import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import pc from 'picocolors'
import type { Finding } from '../../kit-node.js'
import { escapeName, escapeText } from './escape.js'
import { formatDuration, formatOffset, formatSize } from './format-values.js'
import { jsonPieces } from './json.js'
import type { RecordFormat } from './records.js'
import type { Paint, TableLook } from './table.js'
import { shorten, shortenMiddle } from './width.js'

export type Colors = ReturnType<typeof pc.createColors>
type Environment = Readonly<Record<string, string | undefined>>

export type ColorChoice = 'auto' | 'always' | 'never'

/** Colour is for people at a terminal who have not said no. A flag says it louder than the environment. */
export function wantsColor(
  stream: { readonly isTTY?: boolean },
  env: Environment = process.env,
  choice: ColorChoice = 'auto',
): boolean {
  if (choice !== 'auto') return choice === 'always'
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0'
  return stream.isTTY === true && env.TERM !== 'dumb'
}

/** How the data of a verb is printed. */
export interface TableChoice {
  readonly format?: 'table' | RecordFormat | undefined
  /** The titles of the columns to show, in this order. */
  readonly columns?: readonly string[] | undefined
  /** The input is one of several, so that every record has to name it. */
  readonly several?: boolean | undefined
}

/** What is needed of a stream; tests give their own. */
export type Stream = Pick<NodeJS.WriteStream, 'write' | 'isTTY' | 'columns'> & NodeJS.EventEmitter

/** After this many characters the event loop gets a turn, in which streams release what they have written. */
const turnAfter = 1 << 20
const pieceSize = 65_536
const maxRowsOnTerminal = 100

/** Where everything is printed: data on standard output, words on standard error. */
export class Console {
  readonly #stdout: Stream
  readonly #stderr: Stream
  readonly progress: Progress
  color: Colors
  errorColor: Colors
  /** What `--format` and `--columns` say about tables. */
  tables: TableChoice = {}
  #quiet = false
  #hasBlock = false
  /** What must not be printed, whatever it is part of, and what is printed in its place. */
  secrets: ReadonlyMap<string, string> = new Map()
  #sinceTurn = 0

  constructor(stdout: Stream = process.stdout, stderr: Stream = process.stderr) {
    this.#stdout = stdout
    this.#stderr = stderr
    this.progress = new Progress(stderr)
    this.color = pc.createColors(wantsColor(stdout))
    this.errorColor = pc.createColors(wantsColor(stderr))
  }

  /** What `--color` says. */
  set colorChoice(choice: ColorChoice) {
    this.color = pc.createColors(wantsColor(this.#stdout, process.env, choice))
    this.errorColor = pc.createColors(wantsColor(this.#stderr, process.env, choice))
  }

  /** No progress and no remarks. */
  set quiet(isQuiet: boolean) {
    this.#quiet = isQuiet
    this.progress.quiet = isQuiet
  }

  get isQuiet(): boolean {
    return this.#quiet
  }

  get isTerminal(): boolean {
    return this.#stdout.isTTY === true
  }

  get width(): number {
    return this.#stdout.columns || 120
  }

  /** How tables look: titles underlined and, on a terminal, no wider than it. */
  get look(): TableLook & { readonly head: Paint } {
    return { head: this.color.underline, width: this.isTerminal ? this.width : undefined }
  }

  /** Call it before the text about an input: an empty line separates it from that about the input before. */
  async beginBlock(): Promise<void> {
    const isList = this.tables.format === 'csv' || this.tables.format === 'tsv'
    if (this.#hasBlock && !isList) await this.write('\n')
    this.#hasBlock = true
  }

  /** How many rows of a table are shown unless a number is given: a person wants to see the top of it, a program all. */
  get maxRows(): number {
    return this.isTerminal ? maxRowsOnTerminal : Number.POSITIVE_INFINITY
  }

  #withoutSecrets(text: string): string {
    let shown = text
    for (const [secret, instead] of this.secrets) shown = shown.replaceAll(secret, instead)
    return shown
  }

  /** Waits while the reader is slower than we are, so that output does not pile up in memory. */
  async write(text: string): Promise<void> {
    if (this.isTerminal) this.progress.finish()
    const hasRoom = this.#stdout.write(this.#withoutSecrets(text))
    if (!hasRoom) await once(this.#stdout, 'drain')
    this.#sinceTurn += text.length
    if (this.#sinceTurn < turnAfter) return
    this.#sinceTurn = 0
    await setImmediate()
  }

  writeError(text: string): void {
    this.progress.finish()
    this.#stderr.write(this.#withoutSecrets(text))
  }

  async print(lines: Iterable<string>): Promise<void> {
    let text = ''
    for (const line of lines) {
      text += `${line}\n`
      if (text.length < pieceSize) continue
      await this.write(text)
      text = ''
    }
    if (text !== '') await this.write(text)
  }

  async json(value: unknown): Promise<void> {
    for (const piece of jsonPieces(value)) await this.write(piece)
  }

  /** Something worth knowing that is not data. */
  remark(text: string): void {
    if (!this.#quiet) this.#say(text)
  }

  remarkOn(finding: Finding): void {
    this.remark(formatFinding(finding, this.errorColor, finding.file))
  }

  /** Something went wrong; always shown. */
  complain(text: string): void {
    this.#say(`${this.errorColor.red('tare:')} ${escapeText(text)}`)
  }

  /** An input that could not be used, and exactly where it went wrong. */
  complainOf(finding: Finding): void {
    this.complain(`${finding.file}${offsetOf(finding)}${pathOf(finding)}: ${finding.message} (${finding.code})`)
  }

  #say(text: string): void {
    this.writeError(`${text}\n`)
  }
}

/** `error safetensors/overlap @ 0x1c8 tensors["a"].data_offsets: …` */
export function formatFinding(finding: Finding, color: Colors, shownFile: string | undefined): string {
  const { severity, code, message } = finding
  const paint = severity === 'error' ? color.red : severity === 'warning' ? color.yellow : color.cyan
  const file = shownFile === undefined ? '' : ` ${escapeText(shownFile)}`
  const place = color.dim(`${file}${offsetOf(finding)}`)
  return `${paint(severity)} ${code}${place}${escapeText(pathOf(finding))}: ${escapeText(message)}`
}

/** What is wrong with the file as a whole has no place in it. */
const isAboutAll = ({ code, offset, path }: Finding): boolean =>
  (offset ?? 0) === 0 && (path === 'file' || (path === undefined && code.startsWith('remote/')))

const offsetOf = (finding: Finding): string =>
  finding.offset === undefined || isAboutAll(finding) ? '' : ` @ ${formatOffset(finding.offset)}`

const pathOf = (finding: Finding): string => (finding.path && !isAboutAll(finding) ? ` ${finding.path}` : '')

export interface ProgressState {
  readonly done: number
  readonly total: number
  readonly path: string
}

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

const delayMs = 500
const intervalMs = 100
const barWidth = 24
/** Less of a name tells nothing. */
const minNameWidth = 8

/** `[=========>              ]  40%  1.20 GiB of 3.00 GiB  850 MiB/s  0:02 left  blk.3.attn_k`, as far as it fits the terminal. */
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
  ]
  const line = shorten(parts.join('  '), Math.max(10, width - 1))
  const rest = width - 1 - line.length - 2
  return rest < minNameWidth ? line : `${line}  ${shortenMiddle(escapeName(state.path), rest)}`.trimEnd()
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
    if (this.#visible) this.#stream.write('\ninterrupted\n')
    this.#hide()
  }

  #hide(): void {
    if (this.#visible) this.onChange(false)
    this.#visible = false
  }
}
