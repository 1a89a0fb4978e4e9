// MessagePack of which a window is in memory at a time. Whatever must be read as a whole is first seen to be there as a whole.
import { Shortage } from '../../bytes/index.js'
import { type Report, strictReport, TareError } from '../../errors/index.js'
import { MsgpackReader } from '../../wire/msgpack/index.js'
import type { ContentWindow } from './content-window.js'
import { skipValue } from './edit-index.js'

export class WindowReader extends MsgpackReader {
  readonly window: ContentWindow
  readonly #signal: AbortSignal | undefined
  /** Goes ahead, and says nothing about what it meets. */
  readonly #scout: MsgpackReader

  constructor(window: ContentWindow, report: Report, signal: AbortSignal | undefined) {
    super(window.bytes, report, { base: window.base, end: window.size })
    this.window = window
    this.#signal = signal
    this.#scout = new MsgpackReader(window.bytes, strictReport(''), { end: window.size })
  }

  /** A step that runs out of the window is done again in the next one. It must not do anything else before. */
  async whole<T>(step: () => T): Promise<T> {
    for (;;) {
      const start = this.offset
      try {
        return step()
      } catch (error) {
        if (!(error instanceof Shortage)) throw error
        await this.goOn(start)
      }
    }
  }

  /** Throws a `Shortage` unless so many values end in the window, or what is wrong with them is there. */
  expect(values: number): void {
    if (this.window.isLast) return
    const scout = this.#scout
    scout.moveTo(this.window.bytes, this.window.base)
    scout.position = this.position
    try {
      for (let left = values; left > 0; left--) skipValue(scout)
    } catch (error) {
      if (!(error instanceof TareError)) throw error
    }
  }

  /** The next window, from `offset` on. */
  async goOn(offset: number): Promise<void> {
    await this.window.moveTo(offset, this.#signal)
    this.moveTo(this.window.bytes, offset)
  }
}
