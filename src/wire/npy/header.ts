// The header of an NPY file: magic, version, a length, and a Python dictionary as text, padded so that the data starts on a multiple
// of 64. Version 1 has a 16-bit length; version 2 a 32-bit one, for headers that do not fit.
import { alignUp, encodeUtf8 } from '../../bytes/index.js'

export const npyMagic = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59)

export function startsLikeNpy(head: Uint8Array): boolean {
  for (let i = 0; i < npyMagic.byteLength; i++) if (head[i] !== npyMagic[i]) return false
  return true
}

const descriptions: ReadonlyMap<string, string> = new Map([
  ['f64', '<f8'],
  ['f32', '<f4'],
  ['f16', '<f2'],
  ['i64', '<i8'],
  ['i32', '<i4'],
  ['i16', '<i2'],
  ['i8', '|i1'],
  ['u64', '<u8'],
  ['u32', '<u4'],
  ['u16', '<u2'],
  ['u8', '|u1'],
  ['bool', '|b1'],
  ['c64', '<c8'],
  ['c128', '<c16'],
])

/** The `descr` of an element type, or undefined when NumPy has none. */
export const npyDescription = (dtype: string): string | undefined => descriptions.get(dtype)

export function npyHeader(dtype: string, shape: readonly number[], fortranOrder = false): Uint8Array {
  const descr = descriptions.get(dtype)
  if (!descr) throw new RangeError(`NumPy has no type for ${dtype}`)
  return npyHeaderOf(descr, shape, fortranOrder)
}

/** NumPy leaves room for this many digits of the dimension that grows when elements are appended. */
const growthDigits = 21

/** The same for any `descr`, with the bytes that NumPy writes. */
export function npyHeaderOf(descr: string, shape: readonly number[], fortranOrder: boolean): Uint8Array {
  if (!/^[\w<>|=[\]/ ]+$/.test(descr)) throw new RangeError(`${JSON.stringify(descr)} describes no element type`)
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(', ')
  const dictionary = `{'descr': '${descr}', 'fortran_order': ${fortranOrder ? 'True' : 'False'}, 'shape': (${dims}), }`
  const growing = shape.at(fortranOrder ? -1 : 0)
  const room = growing === undefined ? 0 : growthDigits - String(growing).length
  // At least one blank before the line feed, or a whole block of them: what NumPy does.
  const sizeFor = (start: number): number => alignUp(start + dictionary.length + room + 2, 64)
  const isShort = sizeFor(10) - 10 < 65_536
  const start = isShort ? 10 : 12
  const bytes = new Uint8Array(sizeFor(start)).fill(0x20)
  bytes.set([...npyMagic, isShort ? 1 : 2, 0])
  const view = new DataView(bytes.buffer)
  if (isShort) view.setUint16(8, bytes.byteLength - start, true)
  else view.setUint32(8, bytes.byteLength - start, true)
  bytes.set(encodeUtf8(dictionary), start)
  bytes[bytes.byteLength - 1] = 0x0a
  return bytes
}
