// Python literals, as NPY headers use them: dictionaries, tuples, lists, strings, integers, floats, True, False and None. Nothing is
// evaluated: a name, a call or an operator is a syntax error.

export type PythonValue =
  | { readonly kind: 'string'; readonly at: number; readonly value: string }
  | { readonly kind: 'int'; readonly at: number; readonly value: bigint }
  | { readonly kind: 'float' | 'none'; readonly at: number }
  | { readonly kind: 'bool'; readonly at: number; readonly value: boolean }
  | { readonly kind: 'tuple' | 'list'; readonly at: number; readonly items: readonly PythonValue[] }
  | { readonly kind: 'dict'; readonly at: number; readonly entries: readonly (readonly [PythonValue, PythonValue])[] }

/** `index` is the position in the text. */
export class PythonSyntaxError extends Error {
  readonly index: number

  constructor(index: number, message: string) {
    super(message)
    this.index = index
  }
}

export interface LiteralOptions {
  /** Accept the suffix that Python 2 gave to long integers: 3L. */
  readonly longSuffix?: boolean
}

const maxDepth = 16
const blanks = ' \t\r\n\f'
const numberPattern =
  /[+-]?(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)/y
const wordPattern = /[A-Za-z_][A-Za-z0-9_]*/y
const simpleEscapes: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}
const hexEscapes: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 }

/** The text is one literal, with blanks around it at most. */
export function parsePythonLiteral(text: string, options: LiteralOptions = {}): PythonValue {
  let at = 0

  const fail = (message: string, index = at): never => {
    throw new PythonSyntaxError(index, message)
  }
  const found = (): string => (at < text.length ? JSON.stringify(text[at]) : 'the end')
  const skipBlanks = (): void => {
    while (at < text.length && blanks.includes(text[at]!)) at++
  }
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const token = pattern.exec(text)?.[0]
    if (token !== undefined) at += token.length
    return token
  }

  function readValue(depth: number): PythonValue {
    if (depth > maxDepth) fail('the header is nested too deeply')
    skipBlanks()
    const start = at
    const first = text[at] ?? ''
    if (first === '{') return readDict(start, depth)
    if (first === '(' || first === '[') return readSequence(start, depth)
    if (first === "'" || first === '"') return { kind: 'string', at: start, value: readString(first) }
    if (/[0-9.+-]/.test(first)) return readNumber(start)
    return readWord(start)
  }

  function readWord(start: number): PythonValue {
    const word = match(wordPattern)
    const next = text[at] ?? ''
    if ((word === 'u' || word === 'U') && (next === "'" || next === '"'))
      return { kind: 'string', at: start, value: readString(next) }
    if (word === 'True' || word === 'False') return { kind: 'bool', at: start, value: word === 'True' }
    if (word === 'None') return { kind: 'none', at: start }
    at = start
    return fail(`a value was expected, ${word === undefined ? found() : JSON.stringify(word)} found`)
  }

  function readNumber(start: number): PythonValue {
    const token = match(numberPattern)
    if (token === undefined) return fail(`a number was expected, ${found()} found`)
    const digits = token.replace(/^[+-]/, '')
    const isInteger = /^(?:0[xXoObB])?[0-9a-fA-F]+$/.test(digits) && !/^[0-9]+[eE]/.test(digits)
    if (!isInteger) return { kind: 'float', at: start }
    if (/^0+[1-9]/.test(digits)) fail('an integer starts with a zero: octal in Python 2, an error in Python 3', start)
    if (options.longSuffix && text[at] === 'L') at++
    const magnitude = BigInt(digits)
    return { kind: 'int', at: start, value: token.startsWith('-') ? -magnitude : magnitude }
  }

  /** `(3)` is the number itself, `(3,)` a tuple of one. */
  function readSequence(start: number, depth: number): PythonValue {
    const isTuple = text[at] === '('
    const closing = isTuple ? ')' : ']'
    const items: PythonValue[] = []
    let commas = 0
    at++
    for (skipBlanks(); text[at] !== closing; skipBlanks()) {
      if (items.length > commas) fail(`a comma or ${closing} was expected, ${found()} found`)
      items.push(readValue(depth + 1))
      skipBlanks()
      if (text[at] !== ',') continue
      commas++
      at++
    }
    at++
    if (isTuple && items.length === 1 && commas === 0) return items[0]!
    return { kind: isTuple ? 'tuple' : 'list', at: start, items }
  }

  function readDict(start: number, depth: number): PythonValue {
    const entries: [PythonValue, PythonValue][] = []
    let commas = 0
    at++
    for (skipBlanks(); text[at] !== '}'; skipBlanks()) {
      if (entries.length > commas) fail(`a comma or } was expected, ${found()} found`)
      const key = readValue(depth + 1)
      skipBlanks()
      if (text[at] !== ':') fail(`a colon was expected, ${found()} found`)
      at++
      entries.push([key, readValue(depth + 1)])
      skipBlanks()
      if (text[at] !== ',') continue
      commas++
      at++
    }
    at++
    return { kind: 'dict', at: start, entries }
  }

  function readString(quote: string): string {
    let value = ''
    for (at++; ; at++) {
      const unit = text[at]
      if (unit === undefined || unit === '\n') return fail('the string has no end')
      if (unit === quote) break
      value += unit === '\\' ? readEscape() : unit
    }
    at++
    return value
  }

  /** Stays on the last character of the escape. */
  function readEscape(): string {
    const letter = text[++at] ?? ''
    const simple = simpleEscapes[letter]
    if (simple !== undefined) return simple
    const octal = /[0-7]{1,3}/y
    octal.lastIndex = at
    const digits = octal.exec(text)?.[0]
    if (digits !== undefined) {
      at += digits.length - 1
      return String.fromCharCode(Number.parseInt(digits, 8))
    }
    const length = hexEscapes[letter]
    const hex = length === undefined ? '' : text.slice(at + 1, at + 1 + length)
    const code = /^[0-9a-fA-F]+$/.test(hex) && hex.length === length ? Number.parseInt(hex, 16) : -1
    if (code < 0 || code > 0x10ffff) return fail('an escape that Python does not have')
    at += hex.length
    return String.fromCodePoint(code)
  }

  const value = readValue(0)
  skipBlanks()
  if (at < text.length) fail(`the end was expected, ${found()} found`)
  return value
}
