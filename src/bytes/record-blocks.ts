// Many small records, packed one behind the other: numbers that take as few bytes as they need, and texts. They lie in blocks that are never
// moved, so growing costs no copy.
import { TextStretch } from './text-stretch.js'
import { textOfUnits } from './unit-text.js'

/** A place is the number of a block and a byte in it: records begin within the first so many bytes. */
const largestBlock = 1 << 20
const firstBlock = 1 << 10

export class RecordWriter {
  readonly blocks: Uint8Array[] = []
  #block = new Uint8Array(0)
  #at = 0

  /** Begins a record that takes at most so many bytes; the answer is its place. */
  begin(most: number): number {
    if (this.#at + most > this.#block.byteLength || this.#at >= largestBlock) {
      const size = Math.min(largestBlock, Math.max(firstBlock, this.#block.byteLength * 2))
      this.#block = new Uint8Array(Math.max(size, most))
      this.blocks.push(this.#block)
      this.#at = 0
    }
    return (this.blocks.length - 1) * largestBlock + this.#at
  }

  /** How many bytes of a block will not change any more. */
  settledIn(block: Uint8Array): number {
    return block === this.#block ? this.#at : block.byteLength
  }

  byte(value: number): void {
    this.#block[this.#at++] = value
  }

  /** A whole number from 0 to 2^53 - 1: seven bits in a byte, the lowest first. */
  number(value: number): void {
    let rest = value
    while (rest >= 0x80) {
      this.#block[this.#at++] = 0x80 | (rest % 0x80)
      rest = Math.floor(rest / 0x80)
    }
    this.#block[this.#at++] = rest
  }

  /** Any text, half surrogates included. */
  text(value: string): void {
    const start = this.#at
    this.number(value.length * 2)
    const block = this.#block
    let at = this.#at
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 0xff) {
        this.#at = start
        this.#wideText(value)
        return
      }
      block[at++] = unit
    }
    this.#at = at
  }

  #wideText(value: string): void {
    this.number(value.length * 2 + 1)
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      this.#block[this.#at++] = unit
      this.#block[this.#at++] = unit >> 8
    }
  }

  /** The same for a text whose characters are there as bytes. */
  bytes(value: Uint8Array, from: number, to: number): void {
    this.number((to - from) * 2)
    const block = this.#block
    let at = this.#at
    for (let i = from; i < to; i++) block[at++] = value[i]!
    this.#at = at
  }
}

/** The most bytes that a number and a text take. */
export const numberRoom = 8
export const textRoom = (text: string): number => numberRoom + 2 * text.length

/** Reads what a writer has written, from any place where a record begins. */
export class RecordReader {
  readonly #writer: RecordWriter
  #block: Uint8Array = new Uint8Array(0)
  #at = 0
  readonly #texts = new TextStretch()

  constructor(writer: RecordWriter) {
    this.#writer = writer
  }

  moveTo(place: number): void {
    this.#block = this.#writer.blocks[Math.floor(place / largestBlock)]!
    this.#at = place % largestBlock
  }

  byte(): number {
    return this.#block[this.#at++]!
  }

  number(): number {
    let byte = this.#block[this.#at++]!
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    let factor = 0x80
    do {
      byte = this.#block[this.#at++]!
      value += (byte & 0x7f) * factor
      factor *= 0x80
    } while (byte >= 0x80)
    return value
  }

  text(): string {
    const head = this.number()
    const isWide = head % 2 === 1
    const length = Math.floor(head / 2)
    const start = this.#at
    this.#at += isWide ? 2 * length : length
    if (isWide) return wideText(this.#block, start, this.#at)
    return this.#texts.textOf(this.#block, start, this.#at, this.#writer.settledIn(this.#block))
  }
}

/** Two bytes for each code unit, the lower one first. */
function wideText(bytes: Uint8Array, from: number, to: number): string {
  const units = new Uint16Array((to - from) / 2)
  for (let i = 0; i < units.length; i++) units[i] = bytes[from + 2 * i]! + (bytes[from + 2 * i + 1]! << 8)
  return textOfUnits(units, 0, units.length)
}
