// The tensor index: descriptors of 32 bytes, and behind the last one all names in the same order, without separators.
import { Cursor, countElements, decodeLossy, decodeUtf8, toSafe } from '../../bytes/index.js'
import { fnv1a32 } from '../../digest/fnv1a.js'
import type { DType } from '../../dtypes/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { hex } from './crc.js'
import { type Descriptor, descriptor, dtypes, maxRank } from './structs.js'

/** A tensor as its descriptor states it; whether its bytes exist is checked where the data section is known. */
export interface IndexEntry {
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
  /** From the start of the data section; undefined when no file can be that large. */
  readonly dataOffset: number | undefined
  readonly size: number
  /** Where the descriptor is, and its number, for findings. */
  readonly at: number
  readonly index: number
}

export const descriptorPath = (index: number, field: string): string => `tensors[${index}].${field}`

export interface TensorIndex {
  readonly entries: readonly IndexEntry[]
  /** Descriptors that are wrong in themselves and were left out. */
  readonly refused: number
}

/** How many bytes of names the descriptors announce. */
export function totalNameLength(descriptors: Uint8Array): number {
  const view = new DataView(descriptors.buffer, descriptors.byteOffset, descriptors.byteLength)
  let total = 0
  for (let at = descriptor.offsetOf('nameLength'); at < descriptors.byteLength; at += descriptor.size) {
    total += view.getUint16(at, true)
  }
  return total
}

/** `names` may be shorter than announced; the tensors behind its end are left out. */
export function readTensorIndex(
  descriptors: Uint8Array,
  names: Uint8Array,
  offset: number,
  context: ReadContext,
): TensorIndex {
  const { report, extents } = context
  const count = descriptors.byteLength / descriptor.size
  const cursor = new Cursor(descriptors, report, { base: offset, extents, path: ['tensors', 0] })
  const table = new Cursor(names, report, { base: offset + descriptors.byteLength, extents, path: ['names', 0] })
  const entries: IndexEntry[] = []
  const known = new Set<string>()
  for (let i = 0; i < count; i++) {
    if (extents) renumber(i, cursor, table)
    const at = cursor.offset
    const values = descriptor.read(cursor)
    if (values.nameLength > table.remaining) return { entries, refused: count - entries.length }
    const nameAt = table.offset
    const bytes = table.raw(values.nameLength, '', decodeLossy)
    const name = readName(bytes, nameAt, values, at, i, context)
    const isRepeated = name !== undefined && known.has(name)
    if (isRepeated) {
      const message = `${JSON.stringify(name)} was there before`
      report.report(codes['duplicate-tensor-name'], { offset: nameAt, path: `names[${i}]`, message })
    }
    const type = readType(values, at, i, context)
    if (name === undefined || isRepeated || !type) continue
    known.add(name)
    entries.push({ name, ...type, dataOffset: toSafe(values.dataOffset), at, index: i })
  }
  return { entries, refused: count - entries.length }
}

/** Paths are only needed for the byte map: nothing is read here that is not there. */
function renumber(index: number, ...cursors: readonly Cursor[]): void {
  for (const cursor of cursors) {
    cursor.leave()
    cursor.enter(index)
  }
}

function readName(
  bytes: Uint8Array,
  nameAt: number,
  { nameHash }: Descriptor,
  at: number,
  index: number,
  { report }: ReadContext,
): string | undefined {
  const name = decodeUtf8(bytes)
  if (name === undefined)
    report.report(codes['name-utf8'], { offset: nameAt, path: descriptorPath(index, 'name'), message: 'not UTF-8' })
  if (name === '')
    report.report(codes['empty-tensor-name'], {
      offset: at,
      path: descriptorPath(index, 'name_length'),
      message: 'empty',
    })
  const hash = fnv1a32(bytes)
  if (hash !== nameHash) {
    const message = `${hex(nameHash)} is stored, the name ${JSON.stringify(decodeLossy(bytes))} has ${hex(hash)}`
    report.report(codes['name-hash'], { offset: at, length: 4, path: descriptorPath(index, 'name_hash'), message })
  }
  return name
}

function readType(
  values: Descriptor,
  at: number,
  index: number,
  { report }: ReadContext,
): Pick<IndexEntry, 'dtype' | 'shape' | 'size'> | undefined {
  const complain = (code: keyof typeof codes, field: keyof Descriptor, name: string, message: string): undefined => {
    report.report(codes[code], { offset: at + descriptor.offsetOf(field), path: descriptorPath(index, name), message })
  }
  const dtype = dtypes[values.dtype]
  if (!dtype) complain('dtype', 'dtype', 'dtype', `type ${values.dtype}, but only 0 to ${dtypes.length - 1} exist`)
  const { ndim } = values
  if (ndim < 1 || ndim > maxRank) {
    return complain('ndim', 'ndim', 'ndim', `${ndim} dimensions, but only 1 to ${maxRank} are possible`)
  }
  const fields = [values.shape0, values.shape1, values.shape2, values.shape3]
  const shape = fields.slice(0, ndim)
  const extra = fields.findIndex((dim, i) => i >= ndim && dim !== 0)
  if (extra >= 0) {
    complain(
      'unused-shape',
      `shape${extra}` as keyof Descriptor,
      `shape[${extra}]`,
      `${fields[extra]}, beyond ${ndim} dimensions`,
    )
  }
  const zero = shape.indexOf(0)
  if (zero >= 0) return complain('dim-zero', `shape${zero}` as keyof Descriptor, `shape[${zero}]`, 'the dimension is 0')
  if (!dtype) return undefined
  const size = countElements(shape) === undefined ? undefined : dtype.byteLength(shape)
  if (size === undefined) {
    const message = `[${shape.join(', ')}] of ${dtype.id} is more than any file can hold`
    return complain('shape-overflow', 'shape0', 'shape', message)
  }
  return { dtype, shape, size }
}
