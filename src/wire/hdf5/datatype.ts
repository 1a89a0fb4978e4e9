// Element types. HDF5 describes numbers by their bits; the description is compared with that of the types that weights have. Everything else
// keeps its size and a name in words.
import type { Cursor } from '../../bytes/index.js'
import type { Code } from '../../errors/index.js'
import { hdf5Codes as codes } from './codes.js'
import { type Hdf5File, numberIn } from './file.js'

export interface ElementType {
  /** Bytes of one element. */
  readonly size: number
  /** The id of the same type in tare; undefined for types that are not numbers. */
  readonly dtype?: string
  readonly bigEndian?: true
  /** Texts of a fixed number of bytes, or elsewhere in the file. */
  readonly text?: 'fixed' | 'variable'
  /** Bytes without a meaning of their own, such as those of bfloat16. */
  readonly isOpaque?: true
  /** How messages call it. */
  readonly what: string
}

const classes = [
  'integer',
  'float',
  'time',
  'text',
  'bit field',
  'opaque',
  'record',
  'reference',
  'enumeration',
] as const

/** Sign, exponent (place, bits), fraction (place, bits), bias. */
const floats = new Map([
  ['15,10,5,0,10,15', 'f16'],
  ['15,7,8,0,7,127', 'bf16'],
  ['31,23,8,0,23,127', 'f32'],
  ['63,52,11,0,52,1023', 'f64'],
  ['7,2,5,0,2,15', 'f8_e5m2'],
])

export function readDatatype(file: Hdf5File, cursor: Cursor): ElementType {
  const { offset } = cursor
  const first = cursor.u8('class')
  const [kind, version] = [first & 15, first >> 4]
  const bits = numberIn(cursor.raw(3, 'bits'))!
  const size = cursor.u32('size')
  if (version < 1 || version > 5) wrong(file, cursor, offset, `version ${version}, known are 1 to 5`, codes.version)
  if (size === 0) wrong(file, cursor, offset, 'elements of no bytes')
  const what = `${classes[kind] ?? `class ${kind}`} of ${size} bytes`
  if (kind === 0) return { size, what, ...readInteger(cursor, bits, size) }
  if (kind === 1) return { size, what, ...readFloat(cursor, bits, size) }
  if (kind === 3) return { size, what: `text of ${size} bytes`, text: 'fixed' }
  if (kind === 5) return { size, what: `${size} opaque bytes`, isOpaque: true }
  if (kind === 6) return { size, what, ...readComplex(file, cursor, version, bits & 0xffff, size) }
  if (kind === 8) return { size, what, ...readBool(file, cursor, version, bits & 0xffff, size) }
  if (kind === 9) return { size, ...((bits & 15) === 1 ? { text: 'variable', what: 'texts' } : { what: 'lists' }) }
  return { size, what }
}

function wrong(file: Hdf5File, cursor: Cursor, offset: number, message: string, code: Code = codes.datatype): never {
  return file.report.fail(code, { offset, path: cursor.pathOf('datatype'), message })
}

type Found = Pick<ElementType, 'dtype' | 'bigEndian'>

const ordered = (dtype: string, isBig: boolean): Found => ({ dtype, ...(isBig && { bigEndian: true }) })

function readInteger(cursor: Cursor, bits: number, size: number): Found {
  const [place, precision] = [cursor.u16('bit_offset'), cursor.u16('precision')]
  if (place !== 0 || precision !== 8 * size || ![1, 2, 4, 8].includes(size)) return {}
  return ordered(`${bits & 8 ? 'i' : 'u'}${precision}`, (bits & 1) === 1 && size > 1)
}

function readFloat(cursor: Cursor, bits: number, size: number): Found {
  const [place, precision] = [cursor.u16('bit_offset'), cursor.u16('precision')]
  const layout = ['exponent_place', 'exponent_bits', 'fraction_place', 'fraction_bits'].map((field) => cursor.u8(field))
  const bias = cursor.u32('bias')
  const sign = (bits >> 8) & 0xff
  const dtype = floats.get([sign, ...layout, bias].join())
  // Bit 6 with bit 0 is the order of a VAX; fractions must have their first bit left out (2).
  const isPlain = place === 0 && precision === 8 * size && (bits & 0x40) === 0 && ((bits >> 4) & 3) === 2
  return dtype && isPlain ? ordered(dtype, (bits & 1) === 1 && size > 1) : {}
}

/** h5py keeps truth values as an enumeration of bytes: FALSE is 0, TRUE is 1. */
function readBool(file: Hdf5File, cursor: Cursor, version: number, count: number, size: number): Found {
  const base = readDatatype(file, cursor)
  if (size !== 1 || count !== 2 || base.size !== 1) return {}
  const names = [readName(cursor, version), readName(cursor, version)]
  const values = [cursor.u8('value'), cursor.u8('value')]
  return names.join() === 'FALSE,TRUE' && values.join() === '0,1' ? { dtype: 'bool' } : {}
}

/** h5py keeps complex numbers as records of two floats, `r` and `i`. */
function readComplex(file: Hdf5File, cursor: Cursor, version: number, count: number, size: number): Found {
  if (count !== 2 || (size !== 8 && size !== 16)) return {}
  const parts: Found[] = []
  for (const [i, wanted] of ['r', 'i'].entries()) {
    const name = readName(cursor, version)
    const place = version < 3 ? cursor.u32('member_offset') : cursor.u8('member_offset')
    if (version === 1) cursor.raw(28, 'member_dimensions')
    if (name !== wanted || place !== (i * size) / 2 || cursor.remaining < 20) return {}
    parts.push(readDatatype(file, cursor))
  }
  const [real, imaginary] = parts
  const isSame = real?.dtype === imaginary?.dtype && real?.bigEndian === imaginary?.bigEndian
  if (!isSame || real?.dtype !== `f${size * 4}`) return {}
  return ordered(`c${size * 8}`, real.bigEndian === true)
}

/** Ends with a NUL; up to version 2 it is padded to a multiple of eight. */
function readName(cursor: Cursor, version: number): string {
  let name = ''
  let length = 0
  for (;;) {
    const byte = cursor.take(1, 'member_name')[0]!
    length++
    if (byte === 0) break
    if (name.length < 16) name += String.fromCharCode(byte)
  }
  if (version < 3 && length % 8 > 0) cursor.take(8 - (length % 8), 'member_name')
  return name
}
