// The format has no index: what is in a file is found by walking from record to record and stepping over the data in between. Here the
// file is brought in, window by window. Where the data of a tensor is small, windows grow and the walk goes through the file, with the
// next window on its way while one is looked at; where it is large, only what lies between two tensors is read behind each jump. How
// much that is, the records before tell. So a model of many gigabytes is listed by reading little more than its keys and shapes.
import { type ByteSource, releaseWindow, Shortage, takeWindow } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import type { MsgpackReader } from '../../wire/msgpack/index.js'
import { codes } from './codes.js'

/** Read behind the first jump: enough for a count, a key and a shape. */
const firstGuess = 64
/** What is read behind a jump is a multiple of this: the next key may be some letters longer than the last. */
const granule = 8
/** Sorted keys come in groups, so a longer one is expected again for a while; one that is far longer than usual, only briefly. */
const fadePerRecord = 0.25
const unusual = 256
const maxGuess = 1 << 12
/** Optimizers keep one or two statistics; those behind the last place share one guess. */
const maxPlaces = 7
const largest = 1 << 22
/** Reading this much costs no more than another read: a jump over less is no jump. */
const nearby = 1 << 15
/** Room before a window for the record that the last one broke off. */
const margin = 1 << 16

/** A window that is on its way. */
interface Ahead {
  readonly offset: number
  readonly size: number
  readonly buffer: Uint8Array
  readonly arrived: Promise<void>
}

export class Windows {
  readonly #source: ByteSource
  readonly #reader: MsgpackReader
  readonly #context: ReadContext
  /** Large windows go into one of two buffers in turn: nothing of a window is kept when the next one is in use. */
  readonly #buffers: Uint8Array[] = []
  #ahead: Ahead | undefined
  #window: Uint8Array = new Uint8Array(0)
  #size = firstGuess
  #end: number
  /** Where the data of the last tensor ended, and which tensor of its parameter it was. */
  #dataEnd = 0
  #place = 0
  /** How many bytes are likely to follow behind the data of each tensor of a parameter. */
  readonly #guesses: number[] = []

  /** `reader` starts with an empty window, at its base. */
  constructor(source: ByteSource, reader: MsgpackReader, context: ReadContext) {
    this.#source = source
    this.#reader = reader
    this.#context = context
    this.#end = reader.offset
  }

  /**
   * Is told about data that the walk steps over: of a value (place 0), or of a statistic behind it (from 1). What follows the same place
   * of the next parameter is about as long.
   */
  stepOver(offset: number, length: number, place: number): void {
    const before = this.#guesses[this.#place] ?? 0
    const faded = before - (before > unusual ? before / granule : fadePerRecord)
    this.#guesses[this.#place] = Math.min(maxGuess, Math.max(offset - this.#dataEnd, faded))
    this.#place = Math.min(place, maxPlaces)
    this.#dataEnd = offset + length
  }

  /**
   * Repeats a step until it says that it was the last. A step that runs out of the window is done again from its beginning, so it must
   * keep its results to itself until it is through.
   */
  async run(step: () => boolean, discard: () => void): Promise<void> {
    for (;;) {
      const start = this.#reader.offset
      try {
        if (!step()) return
      } catch (error) {
        if (!(error instanceof Shortage)) throw error
        discard()
        await this.#fetch(start)
      }
    }
  }

  async close(): Promise<void> {
    await this.#settle()
    for (const buffer of this.#buffers) releaseWindow(buffer)
    this.#buffers.length = 0
  }

  async #fetch(offset: number): Promise<void> {
    const window = (await this.#takeAhead(offset)) ?? (await this.#read(offset))
    this.#reader.moveTo(window, offset)
    this.#window = window
    this.#end = offset + window.byteLength
    if (this.#size === largest && this.#source.readInto) this.#readAhead()
  }

  async #read(offset: number): Promise<Uint8Array> {
    const known = this.#end - offset
    const guess = this.#guesses[this.#place] ?? firstGuess
    this.#size = -known > nearby ? granule * Math.ceil(guess / granule) : Math.min(largest, 2 * this.#size)
    const size = Math.min(Math.max(this.#size, 2 * known), this.#source.size - offset)
    const { limits, report, signal } = this.#context
    if (size > Math.max(largest, limits.indexBytes)) {
      const message = `more than ${limits.indexBytes} bytes would have to be read for one record`
      report.fail(codes['index-limit'], { offset, path: this.#reader.where(), message })
    }
    return this.#source.read(offset, size, { signal })
  }

  #readAhead(): void {
    const offset = this.#end
    const size = Math.min(largest, this.#source.size - offset)
    if (size <= 0) return
    if (this.#buffers.length < 2) this.#buffers.push(takeWindow(margin + largest))
    else this.#buffers.reverse()
    const buffer = this.#buffers.at(-1)!
    const target = buffer.subarray(margin, margin + size)
    const arrived = this.#source.readInto!(offset, target, { signal: this.#context.signal })
    arrived.catch(() => {}) // whoever waits for it gets the error; nobody may
    this.#ahead = { offset, size, buffer, arrived }
  }

  /** The window that was asked for before, with the broken-off record in front of it; undefined when the walk went elsewhere. */
  async #takeAhead(offset: number): Promise<Uint8Array | undefined> {
    const ahead = this.#ahead
    if (!ahead) return undefined
    const start = offset - ahead.offset
    if (-start > margin || start >= ahead.size) {
      await this.#settle()
      return undefined
    }
    await ahead.arrived
    this.#ahead = undefined
    if (start < 0) ahead.buffer.set(this.#window.subarray(start), margin + start)
    return ahead.buffer.subarray(margin + start, margin + ahead.size)
  }

  /** A read that is under way still writes into its buffer. */
  async #settle(): Promise<void> {
    await this.#ahead?.arrived.catch(() => {})
    this.#ahead = undefined
  }
}
