// A strict JSON reader that walks the text once and hands out what it meets. Unlike JSON.parse it sees duplicate keys, knows the byte
// position of everything, keeps integers apart from floats, and never builds objects, so `__proto__` is a key like any other.
import { type Code, jsonCodes, type Report } from '../../errors/index.js'
import { JsonText } from './text.js'

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null'

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const zero = 0x30
const nine = 0x39

export class JsonScanner {
  readonly #report: Report
  readonly #text: JsonText
  readonly #units: Uint8Array | Uint16Array
  readonly #maxDepth: number
  #index = 0
  #keyIndex = 0
  #isKeyPlain = false
  #depth = 0
  /** Whether the next key or item is the first of its object or array. */
  #first = true

  /** `base` is the offset of the first byte in the file. */
  constructor(bytes: Uint8Array, report: Report, base = 0, maxDepth = 128) {
    this.#report = report
    this.#text = new JsonText(bytes, report, base)
    this.#units = this.#text.units
    this.#maxDepth = maxDepth
  }

  /** How many code units the text has. */
  get length(): number {
    return this.#units.length
  }

  /** A stretch of the text as it stands there. */
  slice(start: number, end: number): string {
    return this.#text.slice(start, end)
  }

  unitAt(index: number): number {
    return this.#units[index]!
  }

  /** Position in the text, not in the file. */
  get index(): number {
    return this.#index
  }

  /** The file offset of a text position. */
  offsetAt(index: number = this.#index): number {
    return this.#text.offsetAt(index)
  }

  /** Where the last key begins that `nextKey` gave, with its quote. */
  get keyIndex(): number {
    return this.#keyIndex
  }

  /** What has the characters of that key as bytes, one behind `keyIndex`; undefined where they are written in another way. */
  get keyBytes(): Uint8Array | undefined {
    return this.#isKeyPlain && this.#units instanceof Uint8Array ? this.#units : undefined
  }

  /** A key that was there before, by where it began. */
  keyAt(keyIndex: number): string {
    const index = this.#index
    this.#index = keyIndex
    const key = this.string('')
    this.#index = index
    return key
  }

  /** What stands here, without taking it. */
  peek(path: string): JsonKind {
    this.#skipBlanks()
    const unit = this.#units[this.#index]!
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
    this.#keyIndex = this.#index
    const key = this.string(path)
    this.#isKeyPlain = this.#index - this.#keyIndex === key.length + 2 // every escape is longer than what it stands for
    this.#skipBlanks()
    if (this.#units[this.#index]! !== 0x3a) this.syntax('a colon', path)
    this.#index++
    return key
  }

  /**
   * Takes the next key when it is the one expected and written plainly, so that records of a known form need no strings for their keys.
   * Otherwise stays where it is.
   */
  takeKey(expected: string): boolean {
    const start = this.#index + (this.#first ? 0 : 1)
    const end = start + expected.length + 2
    const units = this.#units
    if (!this.#first && units[this.#index] !== 0x2c) return false
    if (units[start] !== quote || units[end - 1] !== quote || units[end] !== 0x3a) return false
    for (let i = 0; i < expected.length; i++) if (units[start + 1 + i] !== expected.charCodeAt(i)) return false
    this.#index = end + 1
    this.#first = false
    return true
  }

  /** Whether the array has another item. */
  nextItem(path: string): boolean {
    return this.#more(closeBracket, path)
  }

  string(path: string): string {
    this.#skipBlanks()
    const units = this.#units
    let i = this.#index
    if (units[i] !== quote) this.syntax('a string', path)
    const start = ++i
    for (; ; i++) {
      const unit = units[i]!
      if (unit === quote) break
      if (unit === backslash) return this.#escapedString(start, i, path)
      if (!(unit >= 0x20)) this.#badCharacter(i, path)
    }
    this.#index = i + 1
    return this.slice(start, i)
  }

  /**
   * A number written with digits alone, as sizes must be: no sign, fraction, exponent or leading zero. Returns undefined, and stays
   * where it is, when something else stands here. Values beyond 2^53-1 come back rounded: compare with a limit before use.
   */
  unsigned(): number | undefined {
    this.#skipBlanks()
    const units = this.#units
    const start = this.#index
    let i = start
    let value = 0
    let unit = units[i]!
    while (unit >= zero && unit <= nine) {
      value = value * 10 + (unit - zero)
      unit = units[++i]!
    }
    if (i === start || unit === 0x2e || unit === 0x65 || unit === 0x45) return undefined
    if (i > start + 1 && units[start] === zero) return undefined
    this.#index = i
    return value
  }

  /**
   * A whole array of such numbers, written over the beginning of `target`. Returns how many there were, or -1, with the value skipped,
   * when it is anything else.
   */
  unsignedList(target: number[], path: string): number {
    if (this.peek(path) !== 'array') {
      this.skip(path)
      return -1
    }
    let count = 0
    let isPlain = true
    this.beginArray(path)
    while (this.nextItem(path)) {
      const value = this.unsigned()
      if (value !== undefined) target[count++] = value
      else {
        isPlain = false
        this.skip(path)
      }
    }
    return isPlain ? count : -1
  }

  /** The characters of any number, checked against JSON's grammar. */
  number(path: string): string {
    this.#skipBlanks()
    let end = this.#index
    while (end < this.length && isOfNumber(this.#units[end]!)) end++
    const token = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/.exec(this.slice(this.#index, end))?.[0]
    if (token === undefined) return this.syntax('a number', path)
    this.#index += token.length
    return token
  }

  literal(word: 'true' | 'false' | 'null', path: string): void {
    this.#skipBlanks()
    if (this.slice(this.#index, this.#index + word.length) !== word) this.syntax(`"${word}"`, path)
    this.#index += word.length
  }

  /** Steps over a value of any kind; nesting is limited and needs no stack. */
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

  /** What was opened while skipping, innermost last. */
  readonly #openings: ('object' | 'array')[] = []

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
    if (this.#index < this.length) this.syntax('the end', path)
    return end
  }

  fail(code: Code, index: number, path: string, message: string): never {
    return this.#report.fail(code, { offset: this.offsetAt(index), path, message })
  }

  syntax(wanted: string, path: string): never {
    const next = this.slice(this.#index, this.#index + 1)
    const found = next === '' ? 'the end of the text' : JSON.stringify(next)
    return this.fail(jsonCodes.syntax, this.#index, path, `${wanted} was expected, ${found} found`)
  }

  #enter(opening: number, wanted: string, path: string): void {
    if (this.#units[this.#index]! !== opening) this.syntax(wanted, path)
    if (++this.#depth > this.#maxDepth) {
      this.fail(jsonCodes.depth, this.#index, path, `nested deeper than ${this.#maxDepth} levels`)
    }
    this.#index++
    this.#first = true
  }

  #more(closing: number, path: string): boolean {
    this.#skipBlanks()
    const unit = this.#units[this.#index]!
    if (unit === closing) {
      this.#index++
      this.#depth--
      this.#first = false
      return false
    }
    if (!this.#first) {
      if (unit !== 0x2c) this.syntax(`a comma or "${String.fromCharCode(closing)}"`, path)
      this.#index++
      this.#skipBlanks()
    }
    this.#first = false
    return true
  }

  #skipBlanks(): void {
    const units = this.#units
    let unit = units[this.#index]!
    while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) unit = units[++this.#index]!
  }

  #badCharacter(index: number, path: string): never {
    this.#index = index
    if (index >= this.length) return this.syntax('a closing quote', path)
    const code = this.#units[index]!.toString(16).padStart(4, '0')
    return this.fail(jsonCodes.syntax, index, path, `a raw control character U+${code} in a string`)
  }

  #escapedString(start: number, at: number, path: string): string {
    const units = this.#units
    let value = this.slice(start, at)
    for (let i = at; ; i++) {
      const unit = units[i]!
      if (unit === quote) {
        this.#index = i + 1
        if (!value.isWellFormed())
          this.fail(jsonCodes['lone-surrogate'], start, path, 'a string holds half of a surrogate pair')
        return value
      }
      if (unit !== backslash) {
        if (!(unit >= 0x20)) this.#badCharacter(i, path)
        value += String.fromCharCode(unit)
        continue
      }
      const letter = this.slice(++i, i + 1)
      const plain = simpleEscapes.get(letter)
      if (plain !== undefined) value += plain
      else {
        const digits = this.slice(i + 1, i + 5)
        if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(digits)) {
          this.fail(jsonCodes.syntax, i - 1, path, 'an escape that JSON does not have')
        }
        value += String.fromCharCode(Number.parseInt(digits, 16))
        i += 4
      }
    }
  }
}

/** Digits, signs, points and both sorts of e. */
const isOfNumber = (unit: number): boolean =>
  (unit >= zero && unit <= nine) || unit === 0x2b || unit === 0x2d || unit === 0x2e || unit === 0x45 || unit === 0x65

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
