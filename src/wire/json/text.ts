// Text that is walked by code units. For ASCII these are the bytes themselves: a header of 100 MB is not there a second time as a string.
// Other text is decoded first, which validates UTF-8 natively; where a unit stands in the file is then counted when it is asked for.
import { decodeUtf8, findInvalidUtf8 } from '../../bytes/index.js'
import { TextStretch } from '../../bytes/text-stretch.js'
import { textOfUnits } from '../../bytes/unit-text.js'
import { jsonCodes, type Report } from '../../errors/index.js'

export class JsonText {
  readonly units: Uint8Array | Uint16Array
  readonly #base: number
  readonly #stretch = new TextStretch()
  // The last conversion from index to byte; the next one usually lies close behind.
  #knownIndex = 0
  #knownByte = 0

  /** `base` is the offset of the first byte in the file. */
  constructor(bytes: Uint8Array, report: Report, base: number) {
    this.#base = base
    this.units = isAscii(bytes) ? bytes : decodeUnits(bytes, report, base)
  }

  /** As much of it as there is. */
  slice(start: number, end: number): string {
    const { units } = this
    const to = Math.min(end, units.length)
    const from = Math.min(start, to)
    return units instanceof Uint8Array ? this.#stretch.textOf(units, from, to) : textOfUnits(units, from, to)
  }

  /** The offset in the file. */
  offsetAt(index: number): number {
    const { units } = this
    if (units instanceof Uint8Array) return this.#base + index
    if (index < this.#knownIndex) this.#knownIndex = this.#knownByte = 0
    let bytes = this.#knownByte
    for (let i = this.#knownIndex; i < index; i++) {
      const unit = units[i]!
      // Each half of a surrogate pair counts two of the four bytes.
      bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
    }
    this.#knownIndex = index
    this.#knownByte = bytes
    return this.#base + bytes
  }
}

/** Four bytes at a time, from the first place in the buffer where that is possible. */
function isAscii(bytes: Uint8Array): boolean {
  // So short a text may end before that place.
  if (bytes.byteLength < 4) return bytes.every((byte) => byte < 0x80)
  const lead = -bytes.byteOffset & 3
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + lead, (bytes.byteLength - lead) >> 2)
  let bits = 0
  for (let i = 0; i < words.length; i++) bits |= words[i]!
  for (let i = 0; i < lead; i++) bits |= bytes[i]!
  for (let i = lead + 4 * words.length; i < bytes.byteLength; i++) bits |= bytes[i]!
  return (bits & 0x80808080) === 0
}

function decodeUnits(bytes: Uint8Array, report: Report, base: number): Uint16Array {
  const text = decodeUtf8(bytes)
  if (text !== undefined) return codeUnits(text)
  const offset = base + findInvalidUtf8(bytes)
  return report.fail(jsonCodes.utf8, { offset, path: 'json', message: 'the text is not UTF-8 here' })
}

function codeUnits(text: string): Uint16Array {
  const units = new Uint16Array(text.length)
  for (let i = 0; i < text.length; i++) units[i] = text.charCodeAt(i)
  return units
}
