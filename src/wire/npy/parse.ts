// Reading the header of an NPY file; `header.ts` writes it.
//
//   0x93 "NUMPY" | major u8, minor u8 | length u16 (version 1) or u32 | a Python dictionary as text, blanks, a line feed | elements
//
// The dictionary has three entries: `descr`, the element type; `fortran_order`, whether the first dimension runs fastest; `shape`.
import { type ByteSource, countElements, decodeUtf8, encodeUtf8, findInvalidUtf8, toSafe } from '../../bytes/index.js'
import { type Code, neededSize, type Report } from '../../errors/index.js'
import { npyHeaderCodes as codes } from './codes.js'
import { npyMagic as magic } from './header.js'
import { PythonSyntaxError, type PythonValue, parsePythonLiteral } from './python-literal.js'
import { parseRecordType, type RecordField } from './records.js'
import { type ElementType, kindNames, parseElementType } from './types.js'

export interface NpyHeader extends ElementType {
  readonly version: readonly [major: number, minor: number]
  /** Where the elements are records: what they consist of. */
  readonly fields?: readonly RecordField[]
  readonly fortranOrder: boolean
  readonly shape: readonly number[]
  /** Where the text of the header starts, and where the elements do. */
  readonly textOffset: number
  readonly dataOffset: number
}

export const maxNpyHeaderLength = 65_536
/** What NumPy reads without being told to trust the file. */
const trustedLength = 10_000
/** Of NumPy 2. */
const maxRank = 64

/** Enough of a file for any header that is read. */
export const npyHeadSize = 12 + maxNpyHeaderLength

export async function readNpyHeader(source: ByteSource, report: Report, signal?: AbortSignal): Promise<NpyHeader> {
  return parseNpyHeader(await source.read(0, Math.min(source.size, npyHeadSize), { signal }), report, { isFile: true })
}

/** `head` is the beginning of the file: `npyHeadSize` bytes, or the whole file if that is shorter. */
export function parseNpyHeader(
  head: Uint8Array,
  report: Report,
  { isFile = false }: { readonly isFile?: boolean } = {},
): NpyHeader {
  const truncated = (wanted: number, path: string): never =>
    report.fail(codes.truncated, {
      offset: head.byteLength,
      path,
      message: `the file has ${head.byteLength} bytes, the header needs ${wanted}`,
      ...(isFile && neededSize(wanted)),
    })
  if (magic.some((byte, i) => i < head.byteLength && head[i] !== byte)) {
    const message = 'the file does not start with 0x93 and "NUMPY"'
    report.fail(codes.magic, { offset: 0, length: magic.byteLength, path: 'magic', message })
  }
  if (head.byteLength < 10) truncated(10, 'magic')
  const [major, minor] = [head[6]!, head[7]!]
  if (major < 1 || major > 3 || minor !== 0)
    report.fail(codes.version, { offset: 6, length: 2, path: 'version', message: `the version is ${major}.${minor}` })
  const textOffset = major === 1 ? 10 : 12
  if (head.byteLength < textOffset) truncated(textOffset, 'header_len')
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true)
  if (length > maxNpyHeaderLength) {
    const message = `the header would take ${length} bytes; more than ${maxNpyHeaderLength} are not read`
    report.fail(codes['header-length'], { offset: 8, length: textOffset - 8, path: 'header_len', message })
  }
  const dataOffset = textOffset + length
  if (head.byteLength < dataOffset) truncated(dataOffset, 'header')
  if (length > trustedLength)
    report.report(codes['header-long'], { offset: 8, path: 'header_len', message: `the header takes ${length} bytes` })
  const text = new HeaderText(head.subarray(textOffset, dataOffset), textOffset, major, report)
  const { descr, fortranOrder, shape } = text.entries()
  const type = parseType(descr, text)
  if (head[dataOffset - 1] !== 0x0a) {
    const message = 'the header does not end in a line feed'
    report.report(codes['header-newline'], { offset: dataOffset - 1, path: 'header', message })
  }
  return {
    version: [major, minor],
    ...type,
    fortranOrder: text.bool(fortranOrder, 'header.fortran_order'),
    shape: text.shape(shape, type.itemSize),
    textOffset,
    dataOffset,
  }
}

/** Every byte is a character. */
function latin1(bytes: Uint8Array): string {
  const ascii = decodeUtf8(bytes)
  if (ascii?.length === bytes.byteLength) return ascii
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')
}

/** The dictionary, with errors that know where in the file they are. */
class HeaderText {
  readonly #text: string
  readonly #offset: number
  readonly #isUtf8: boolean
  readonly #longSuffix: boolean
  readonly #report: Report

  constructor(bytes: Uint8Array, offset: number, major: number, report: Report) {
    this.#offset = offset
    this.#isUtf8 = major === 3
    this.#longSuffix = major < 3
    this.#report = report
    this.#text = this.#isUtf8 ? this.#decode(bytes) : latin1(bytes)
  }

  #decode(bytes: Uint8Array): string {
    const text = decodeUtf8(bytes)
    if (text !== undefined) return text
    const at = this.#offset + findInvalidUtf8(bytes)
    return this.#report.fail(codes['header-syntax'], { offset: at, path: 'header', message: 'this is not UTF-8' })
  }

  fail(code: Code, at: number, path: string, message: string): never {
    const before = this.#isUtf8 ? encodeUtf8(this.#text.slice(0, at)).byteLength : at
    return this.#report.fail(code, { offset: this.#offset + before, path, message })
  }

  entries(): { descr: PythonValue; fortranOrder: PythonValue; shape: PythonValue } {
    const dict = this.#parse()
    if (dict.kind !== 'dict')
      this.fail(codes['header-syntax'], dict.at, 'header', `a dictionary was expected, ${kindNames[dict.kind]} found`)
    const values = new Map<string, PythonValue>()
    for (const [key, value] of dict.entries) {
      const name = key.kind === 'string' ? key.value : key.kind
      if (key.kind !== 'string' || !['descr', 'fortran_order', 'shape'].includes(name))
        this.fail(codes['header-keys'], key.at, 'header', `there is no place for the key ${JSON.stringify(name)}`)
      if (values.has(name)) this.fail(codes['header-keys'], key.at, 'header', `the key ${name} occurs twice`)
      values.set(name, value)
    }
    const [descr, fortranOrder, shape] = ['descr', 'fortran_order', 'shape'].map(
      (key) => values.get(key) ?? this.fail(codes['header-keys'], dict.at, 'header', `the key ${key} is missing`),
    )
    return { descr: descr!, fortranOrder: fortranOrder!, shape: shape! }
  }

  #parse(): PythonValue {
    try {
      return parsePythonLiteral(this.#text, { longSuffix: this.#longSuffix })
    } catch (error) {
      if (!(error instanceof PythonSyntaxError)) throw error
      return this.fail(codes['header-syntax'], error.index, 'header', error.message)
    }
  }

  bool(value: PythonValue, path: string): boolean {
    if (value.kind === 'bool') return value.value
    return this.fail(
      codes['header-types'],
      value.at,
      path,
      `True or False was expected, ${kindNames[value.kind]} found`,
    )
  }

  shape(value: PythonValue, itemSize: number): number[] {
    const path = 'header.shape'
    if (value.kind !== 'tuple')
      return this.fail(codes['header-types'], value.at, path, `a tuple was expected, ${kindNames[value.kind]} found`)
    if (value.items.length > maxRank)
      this.fail(codes.shape, value.at, path, `${value.items.length} dimensions; NumPy has at most ${maxRank}`)
    const dims = value.items.map((item, i) => this.#dimension(item, `${path}[${i}]`))
    const count = dims.includes(0) ? 0 : countElements(dims)
    if (count === undefined || !Number.isSafeInteger(count * itemSize))
      this.fail(codes['shape-overflow'], value.at, path, `[${dims.join(', ')}] is more than any file can hold`)
    return dims
  }

  #dimension(item: PythonValue, path: string): number {
    if (item.kind !== 'int')
      return this.fail(
        codes['header-types'],
        item.at,
        path,
        `a whole number was expected, ${kindNames[item.kind]} found`,
      )
    if (item.value < 0n) this.fail(codes.shape, item.at, path, `the dimension is ${item.value}`)
    return toSafe(item.value) ?? this.fail(codes['shape-overflow'], item.at, path, `${item.value} is more than 2^53-1`)
  }
}

function parseType(value: PythonValue, text: HeaderText): ElementType & Pick<NpyHeader, 'fields'> {
  if (value.kind !== 'list' && value.kind !== 'tuple') return parseElementType(value, text, 'header.descr')
  const { fields, itemSize } = parseRecordType(value, text)
  const descr = `records of ${fields.map(({ name, descr }) => `${name} ${descr}`).join(', ')}`.slice(0, maxShown)
  return { descr, dtype: undefined, itemSize, bigEndian: false, fields }
}

/** A record can have a thousand fields. */
const maxShown = 200
