// Element types of NPY headers. `<f4` is a byte order, a kind and a size in bytes.
import type { Code } from '../../errors/index.js'
import { npyHeaderCodes as codes } from './codes.js'
import type { PythonValue } from './python-literal.js'

/** The header text around a type; it turns a position into an offset of the file. */
export interface TypeText {
  fail(code: Code, at: number, path: string, message: string): never
}

export interface ElementType {
  /** As the file spells it. */
  readonly descr: string
  /** The id of the element type; undefined for what NumPy has and tare does not: texts, dates, raw bytes, long doubles. */
  readonly dtype: string | undefined
  /** Bytes per element. */
  readonly itemSize: number
  readonly bigEndian: boolean
}

const numbers: Readonly<Record<string, string>> = {
  b1: 'bool',
  i1: 'i8',
  i2: 'i16',
  i4: 'i32',
  i8: 'i64',
  u1: 'u8',
  u2: 'u16',
  u4: 'u32',
  u8: 'u64',
  f2: 'f16',
  f4: 'f32',
  f8: 'f64',
  c8: 'c64',
  c16: 'c128',
}

/** Spellings that NumPy reads but never writes: letters of C's types, and names. Those that depend on the machine are left out. */
const aliases: Readonly<Record<string, string>> = {
  ...{ '?': 'b1', b: 'i1', B: 'u1', h: 'i2', H: 'u2', i: 'i4', I: 'u4', q: 'i8', Q: 'u8' },
  ...{ e: 'f2', f: 'f4', d: 'f8', F: 'c8', D: 'c16' },
  ...{
    bool: 'b1',
    int8: 'i1',
    int16: 'i2',
    int32: 'i4',
    int64: 'i8',
    uint8: 'u1',
    uint16: 'u2',
    uint32: 'u4',
    uint64: 'u8',
  },
  ...{ float16: 'f2', float32: 'f4', float64: 'f8', complex64: 'c8', complex128: 'c16' },
}

/** No sign means the machine's own order, which is little-endian on all that write these files. */
export function parseElementType(value: PythonValue, text: TypeText, path: string): ElementType {
  if (value.kind !== 'string')
    return text.fail(codes.dtype, value.at, path, `a text was expected, ${kindNames[value.kind]} found`)
  const descr = value.value
  const [, order = '', kind = ''] = /^([<>|=]?)(.*)$/s.exec(descr) ?? []
  if (/^O[48]?$/.test(kind)) text.fail(codes['object-array'], value.at, path, 'the elements are Python objects')
  const bigEndian = order === '>'
  const isAlias = Object.hasOwn(aliases, kind) && (order === '' || kind.length === 1)
  const name = isAlias ? aliases[kind]! : kind
  const dtype = Object.hasOwn(numbers, name) ? numbers[name] : undefined
  const itemSize = dtype === undefined ? foreignSize(kind) : Number(name.slice(1))
  if (itemSize === undefined)
    return text.fail(codes.dtype, value.at, path, `NumPy has no element type ${JSON.stringify(descr.slice(0, 40))}`)
  return { descr, dtype, itemSize, bigEndian }
}

/** Types that NumPy has and no format of weights uses: long doubles, bytes, texts of four bytes a character, raw bytes, dates. */
function foreignSize(kind: string): number | undefined {
  if (/^[Mm]8(\[[A-Za-z0-9 /]*\])?$/.test(kind)) return 8
  // Extension packages save their 8-bit floats as f1, which NumPy itself does not know.
  if (/^(f1|f12|f16|c24|c32)$/.test(kind)) return Number(kind.slice(1))
  const [, letter, digits] = /^([SaUV])([0-9]{1,9})$/.exec(kind) ?? []
  if (letter === undefined) return undefined
  return letter === 'U' ? Number(digits) * 4 : Number(digits)
}

/** One of those types in words. */
export function foreignTypeName(descr: string): string {
  const [, letter = '', size = '', unit = ''] = /^[<>|=]?([A-Za-z])([0-9]*)(.*)$/s.exec(descr) ?? []
  switch (letter) {
    case 'U':
      return `texts of up to ${size} characters`
    case 'S':
    case 'a':
      return `texts of up to ${size} bytes`
    case 'M':
      return `dates ${unit}`.trimEnd()
    case 'm':
      return `durations ${unit}`.trimEnd()
    case 'c':
      return `complex long doubles of ${size} bytes`
    case 'f':
      return size === '1' ? '8-bit floats of an extension package' : `long doubles of ${size} bytes`
    default:
      return `raw bytes, ${size} each`
  }
}

export const kindNames: Readonly<Record<PythonValue['kind'], string>> = {
  string: 'a text',
  int: 'an integer',
  float: 'a float',
  none: 'None',
  bool: 'a boolean',
  tuple: 'a tuple',
  list: 'a list',
  dict: 'a dictionary',
}
