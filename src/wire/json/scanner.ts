// A strict JSON reader that walks the text once and hands out what it finds. Unlike JSON.parse it sees duplicate keys, knows the byte
// offset of everything, keeps integers apart from floats, and never builds objects, so `__proto__` is a key like any other.
import { decodeUtf8, findInvalidUtf8 } from '../../bytes/index.js'
import { type Code, jsonCodes, type Report } from '../../errors/index.js'

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null'

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const zero = 0x30
const nine = 0x39

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y
const simpleEscapes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ['\\', '\\'],
  ['/', '/'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

export class JsonScanner {
  /** All of it, decoded. Positions are indexes of this text. */
  readonly #text: string
  readonly #report: Report
  readonly #base: number
  readonly #isAscii: boolean
  readonly #maxDepth: number
  #index = 0
  #depth = 0
  /** Whether the next key or item is the first of its object or array. */
  #first = true
  /** What `skip` has opened, innermost last. */
  readonly #openings: ('object' | 'array')[] = []
  /** Used again for every list: a list that grows has room for more than its items, a copy has not. */
  readonly #numbers: number[] = []
  // The last index that was turned into an offset; the next one is mostly close behind it.
  #knownIndex = 0
  #knownByte = 0

  /** `base` is the offset of the first byte in the file. */
  constructor(bytes: Uint8Array, report: Report, base = 0, maxDepth = 128) {
    this.#report = report
    this.#base = base
    this.#maxDepth = maxDepth
    this.#text = decodeUtf8(bytes) ?? refuseBytes(bytes, report, base)
    this.#isAscii = this.#text.length === bytes.byteLength
  }

  get length(): number {
    return this.#text.length
  }

  /** The text between two positions. */
  slice(start: number, end: number): string {
    return this.#text.slice(start, end)
  }

  /** Position in the text, not in the file. */
  get index(): number {
    return this.#index
  }

  /** The file offset of a text position. */
  offsetAt(index: number = this.#index): number {
    if (this.#isAscii) return this.#base + index
    if (index < this.#knownIndex) this.#knownIndex = this.#knownByte = 0
    for (let i = this.#knownIndex; i < index; i++) {
      const unit = this.#text.charCodeAt(i)
      // Each half of a surrogate pair counts two of the four bytes.
      this.#knownByte += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3
    }
    this.#knownIndex = index
    return this.#base + this.#knownByte
  }

  /** What comes next, without taking it. */
  peek(path: string): JsonKind {
    this.#skipBlanks()
    const unit = this.#unit()
    if (unit === quote) return 'string'
    if (unit === openBrace) return 'object'
    if (unit === openBracket) return 'array'
    if (unit === 0x2d || (unit >= zero && unit <= nine)) return 'number'
    if (unit === 0x74) return 'true'
    if (unit === 0x66) return 'false'
    if (unit === 0x6e) return 'null'
    return this.syntax('a value', path)
  }

  beginObject(path: string): void {
    this.#skipBlanks()
    this.#enter(openBrace, 'an object', path)
  }

  beginArray(path: string): void {
    this.#skipBlanks()
    this.#enter(openBracket, 'an array', path)
  }

  /** The next key of the object, or undefined at its end. */
  nextKey(path: string): string | undefined {
    if (!this.#more(closeBrace, path)) return undefined
    const key = this.string(path)
    this.#skipBlanks()
    if (this.#unit() !== colon) this.syntax('a colon', path)
    this.#index++
    return key
  }

  /** Whether the array has another item. */
  nextItem(path: string): boolean {
    return this.#more(closeBracket, path)
  }

  string(path: string): string {
    this.#skipBlanks()
    if (this.#unit() !== quote) this.syntax('a string', path)
    const text = this.#text
    const start = this.#index + 1
    for (let i = start; ; i++) {
      const unit = text.charCodeAt(i)
      if (unit === quote) {
        this.#index = i + 1
        return text.slice(start, i)
      }
      if (unit === backslash) return this.#escapedString(start, i, path)
      if (!(unit >= 0x20)) this.#badCharacter(i, path)
    }
  }

  /**
   * A number written with digits alone, as sizes must be: no sign, fraction, exponent or leading zero. Returns undefined, and takes
   * nothing, when something else comes next. Values beyond 2^53-1 are rounded: compare with a limit before use.
   */
  unsigned(): number | undefined {
    this.#skipBlanks()
    const text = this.#text
    const start = this.#index
    let i = start
    let value = 0
    let unit = text.charCodeAt(i)
    while (unit >= zero && unit <= nine) {
      value = value * 10 + (unit - zero)
      unit = text.charCodeAt(++i)
    }
    if (i === start || unit === 0x2e || unit === 0x65 || unit === 0x45) return undefined
    if (i > start + 1 && text.charCodeAt(start) === zero) return undefined
    this.#index = i
    return value
  }

  /** An array of such numbers; any other value is skipped and gives undefined. */
  unsignedList(path: string): number[] | undefined {
    if (this.peek(path) !== 'array') {
      this.skip(path)
      return undefined
    }
    let count = 0
    let isPlain = true
    this.beginArray(path)
    while (this.nextItem(path)) {
      const value = this.unsigned()
      if (value !== undefined) this.#numbers[count++] = value
      else {
        isPlain = false
        this.skip(path)
      }
    }
    return isPlain ? this.#numbers.slice(0, count) : undefined
  }

  /** The characters of any number, checked against JSON's grammar. */
  number(path: string): string {
    this.#skipBlanks()
    numberPattern.lastIndex = this.#index
    const token = numberPattern.exec(this.#text)?.[0]
    if (token === undefined) return this.syntax('a number', path)
    this.#index += token.length
    return token
  }

  literal(word: 'true' | 'false' | 'null', path: string): void {
    this.#skipBlanks()
    if (!this.#text.startsWith(word, this.#index)) this.syntax(`"${word}"`, path)
    this.#index += word.length
  }

  /** Steps over a value of any kind. Nesting is limited, and no recursion is needed. */
  skip(path: string): void {
    const floor = this.#depth
    do {
      const kind = this.peek(path)
      if (kind === 'object' || kind === 'array') {
        this.#enter(kind === 'object' ? openBrace : openBracket, 'a value', path)
        this.#openings.push(kind)
      } else if (kind === 'string') this.string(path)
      else if (kind === 'number') this.number(path)
      else this.literal(kind, path)
      this.#closeFinished(floor, path)
    } while (this.#depth > floor)
  }

  #closeFinished(floor: number, path: string): void {
    while (this.#depth > floor) {
      const more = this.#openings.at(-1) === 'object' ? this.nextKey(path) !== undefined : this.nextItem(path)
      if (more) return
      this.#openings.pop()
    }
  }

  /** Only white space may follow. Returns the index where the value ended. */
  end(path: string): number {
    const end = this.#index
    this.#skipBlanks()
    if (this.#index < this.#text.length) this.syntax('the end', path)
    return end
  }

  fail(code: Code, index: number, path: string, message: string): never {
    return this.#report.fail(code, { offset: this.offsetAt(index), path, message })
  }

  syntax(wanted: string, path: string): never {
    const next = this.#text.charAt(this.#index)
    const found = next === '' ? 'the end of the text' : JSON.stringify(next)
    return this.fail(jsonCodes.syntax, this.#index, path, `${wanted} was expected, ${found} found`)
  }

  /** The next code unit; NaN at the end of the text. */
  #unit(): number {
    return this.#text.charCodeAt(this.#index)
  }

  #enter(opening: number, wanted: string, path: string): void {
    if (this.#unit() !== opening) this.syntax(wanted, path)
    if (++this.#depth > this.#maxDepth) {
      this.fail(jsonCodes.depth, this.#index, path, `nested deeper than ${this.#maxDepth} levels`)
    }
    this.#index++
    this.#first = true
  }

  #more(closing: number, path: string): boolean {
    this.#skipBlanks()
    const unit = this.#unit()
    if (unit === closing) {
      this.#index++
      this.#depth--
      this.#first = false
      return false
    }
    if (!this.#first) {
      if (unit !== comma) this.syntax(`a comma or "${String.fromCharCode(closing)}"`, path)
      this.#index++
      this.#skipBlanks()
    }
    this.#first = false
    return true
  }

  #skipBlanks(): void {
    const text = this.#text
    let unit = text.charCodeAt(this.#index)
    while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = text.charCodeAt(++this.#index)
  }

  #badCharacter(index: number, path: string): never {
    this.#index = index
    if (index >= this.#text.length) return this.syntax('a closing quote', path)
    const code = this.#text.charCodeAt(index).toString(16).padStart(4, '0')
    return this.fail(jsonCodes.syntax, index, path, `a raw control character U+${code} in a string`)
  }

  /** A string that begins at `start` and has its first backslash at `at`. */
  #escapedString(start: number, at: number, path: string): string {
    const text = this.#text
    let value = text.slice(start, at)
    for (let i = at; ; i++) {
      const unit = text.charCodeAt(i)
      if (unit === quote) {
        this.#index = i + 1
        if (!value.isWellFormed())
          this.fail(jsonCodes['lone-surrogate'], start, path, 'a string holds half of a surrogate pair')
        return value
      }
      if (unit !== backslash) {
        if (!(unit >= 0x20)) this.#badCharacter(i, path)
        value += text.charAt(i)
        continue
      }
      const letter = text.charAt(++i)
      const plain = simpleEscapes.get(letter)
      if (plain !== undefined) value += plain
      else {
        const digits = text.slice(i + 1, i + 5)
        if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) {
          this.fail(jsonCodes.syntax, i - 1, path, 'an escape that JSON does not have')
        }
        value += String.fromCharCode(Number.parseInt(digits, 16))
        i += 4
      }
    }
  }
}

function refuseBytes(bytes: Uint8Array, report: Report, base: number): never {
  const offset = base + findInvalidUtf8(bytes)
  return report.fail(jsonCodes.utf8, { offset, path: 'json', message: 'the text is not UTF-8 here' })
}
