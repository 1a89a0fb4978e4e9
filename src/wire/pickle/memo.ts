// What a pickle has put aside, by number. Python puts aside every tuple and text, and reads back a few of them; the others are not kept, so
// that what a call was made from can be forgotten with the call.
import type { PickleValue } from './values.js'

export class Memo {
  readonly #kept = new Map<number, PickleValue>()
  readonly #used: ReadonlySet<number> | undefined
  /** Writers count up: all entries below this number are there, and beyond it those that stand out. */
  #end = 0
  readonly #beyond = new Set<number>()

  constructor(bytes: Uint8Array) {
    this.#used = usedEntries(bytes)
  }

  get size(): number {
    return this.#end + this.#beyond.size
  }

  set(index: number, value: PickleValue): void {
    if (!this.#used || this.#used.has(index)) this.#kept.set(index, value)
    if (index > this.#end || this.#beyond.has(index)) this.#beyond.add(index)
    else if (index === this.#end) this.#end++
  }

  get(index: number): PickleValue | undefined {
    return this.#kept.get(index)
  }
}

const [stop, get, binGet, longBinGet] = [46, 103, 104, 106]

/** By opcode, what follows it: a number of bytes, a length of 1, 4 or 8 bytes (negative) with the bytes that it counts, or lines (above 100). */
const forms = new Int8Array(256)
for (const [form, ...those] of [
  [1, 75, 104, 113, 128, 130],
  [2, 77, 131],
  [4, 74, 106, 114, 132],
  [8, 71, 149],
  [-1, 67, 85, 138, 140],
  [-4, 66, 84, 88, 139],
  [-8, 141, 142, 150],
  [101, 70, 73, 76, 80, 83, 86, 112],
  [102, 99, 105],
] as const)
  for (const opcode of those) forms[opcode] = form

/** The entries that a pickle reads back; undefined when it does so with the text opcode of protocol 0. Where a pickle breaks off, so does this. */
function usedEntries(bytes: Uint8Array): ReadonlySet<number> | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const used = new Set<number>()
  const end = bytes.byteLength
  for (let at = 0; at < end; ) {
    const opcode = bytes[at++]!
    if (opcode === stop) break
    if (opcode === get) return undefined
    if (opcode === binGet && at < end) used.add(bytes[at]!)
    if (opcode === longBinGet && at + 4 <= end) used.add(view.getUint32(at, true))
    const form = forms[opcode]!
    if (form > 100) at = afterLines(bytes, at, form - 100)
    else if (form >= 0) at += form
    else if (at - form > end) break
    else at += lengthAt(view, at, -form) - form
  }
  return used
}

function lengthAt(view: DataView, at: number, size: number): number {
  if (size === 1) return view.getUint8(at)
  return size === 4 ? view.getUint32(at, true) : Number(view.getBigUint64(at, true))
}

function afterLines(bytes: Uint8Array, from: number, count: number): number {
  let at = from
  for (let i = 0; i < count; i++) {
    const lineEnd = bytes.indexOf(0x0a, at)
    if (lineEnd < 0) return bytes.byteLength
    at = lineEnd + 1
  }
  return at
}
