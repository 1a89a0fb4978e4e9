import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import pc from 'picocolors'
import type { Finding } from '../../kit-node.js'
import { escapeText } from './escape.js'
import { formatOffset } from './format-values.js'
import { jsonPieces } from './json.js'
import { Progress } from './progress.js'

export type Colors = ReturnType<typeof pc.createColors>
type Environment = Readonly<Record<string, string | undefined>>

/** Colour is for people at a terminal who have not said no. */
export function wantsColor(stream: { readonly isTTY?: boolean }, env: Environment = process.env): boolean {
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0') return true
  return stream.isTTY === true && env.TERM !== 'dumb'
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
  readonly color: Colors
  readonly errorColor: Colors
  #quiet = false
  #sinceTurn = 0

  constructor(stdout: Stream = process.stdout, stderr: Stream = process.stderr) {
    this.#stdout = stdout
    this.#stderr = stderr
    this.progress = new Progress(stderr)
    this.color = pc.createColors(wantsColor(stdout))
    this.errorColor = pc.createColors(wantsColor(stderr))
  }

  /** No progress and no remarks. */
  set quiet(isQuiet: boolean) {
    this.#quiet = isQuiet
    this.progress.quiet = isQuiet
  }

  get isTerminal(): boolean {
    return this.#stdout.isTTY === true
  }

  get width(): number {
    return this.#stdout.columns || 120
  }

  /** How many rows of a table are shown unless a number is given: a person wants to see the top of it, a program all. */
  get maxRows(): number {
    return this.isTerminal ? maxRowsOnTerminal : Number.POSITIVE_INFINITY
  }

  /** Waits while the reader is slower than we are, so that output does not pile up in memory. */
  async write(text: string): Promise<void> {
    if (this.isTerminal) this.progress.finish()
    const hasRoom = this.#stdout.write(text)
    if (!hasRoom) await once(this.#stdout, 'drain')
    this.#sinceTurn += text.length
    if (this.#sinceTurn < turnAfter) return
    this.#sinceTurn = 0
    await setImmediate()
  }

  writeError(text: string): void {
    this.progress.finish()
    this.#stderr.write(text)
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
    this.remark(formatFinding(finding, this.errorColor, true))
  }

  /** Something went wrong; always shown. */
  complain(text: string): void {
    this.#say(`${this.errorColor.red('tare:')} ${escapeText(text)}`)
  }

  /** An input that could not be used, and exactly where it went wrong. */
  complainOf(finding: Finding): void {
    const path = finding.path ? ` ${finding.path}` : ''
    this.complain(`${finding.file}${placeOf(finding)}${path}: ${finding.message} (${finding.code})`)
  }

  #say(text: string): void {
    this.writeError(`${text}\n`)
  }
}

/** `error safetensors/overlap @ 0x1c8 tensors["a"].data_offsets: …` */
export function formatFinding(finding: Finding, color: Colors, withFile: boolean): string {
  const { severity, code, message } = finding
  const paint = severity === 'error' ? color.red : severity === 'warning' ? color.yellow : color.cyan
  const file = withFile ? ` ${escapeText(finding.file)}` : ''
  const path = finding.path ? ` ${escapeText(finding.path)}` : ''
  return `${paint(severity)} ${code}${color.dim(`${file}${placeOf(finding)}`)}${path}: ${escapeText(message)}`
}

const placeOf = ({ offset }: Finding): string => (offset === undefined ? '' : ` @ ${formatOffset(offset)}`)
