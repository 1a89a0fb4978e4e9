// The tensor index: descriptors of 32 bytes, and behind the last one all names in the same order, without separators.
import { Cursor, countElements, decodeLossy, decodeUtf8, type Range, toSafe } from '../../../bytes/index.js'
import { fnv1a32 } from '../../../digest/fnv1a.js'
import type { DType } from '../../../dtypes/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import { hex } from '../crc.js'
import { type Descriptor, descriptor, dtypes, maxRank } from '../structs.js'

/** A tensor whose descriptor is right in itself. As a range: where its data lies in the data section, which may be shorter. */
export interface IndexEntry extends Range {
  /** The number of the descriptor, and where that stands in the file. */
  readonly number: number
  readonly at: number
  readonly name: string
  readonly dtype: DType
  readonly shape: readonly number[]
}

export const descriptorPath = (number: number, field: string): string => `tensors[${number}].${field}`

/** How many bytes of names the descriptors announce. */
export function totalNameLength(descriptors: Uint8Array): number {
  const view = new DataView(descriptors.buffer, descriptors.byteOffset, descriptors.byteLength)
  let total = 0
  for (let at = descriptor.offsetOf('nameLength'); at < descriptors.byteLength; at += descriptor.size)
    total += view.getUint16(at, true)
  return total
}

/** Reads the descriptors, which stand in the file at `offset`, and the names behind them; tensors whose names are missing are left out. */
export function readTensorIndex(
  descriptors: Uint8Array,
  names: Uint8Array,
  offset: number,
  context: ReadContext,
): IndexEntry[] {
  const { report, extents } = context
  const count = descriptors.byteLength / descriptor.size
  const entries: IndexEntry[] = []
  const known = new Set<string>()
  const cursor = new Cursor(descriptors, report, { base: offset, extents, path: ['tensors', 0] })
  const nameCursor = new Cursor(names, report, { base: offset + descriptors.byteLength, extents, path: ['names', 0] })
  for (let number = 0; number < count; number++) {
    if (extents) renumber(number, cursor, nameCursor)
    const at = cursor.offset
    const nameAt = nameCursor.offset
    const values = descriptor.read(cursor)
    if (values.nameLength > nameCursor.remaining) break
    const name = readName(nameCursor.raw(values.nameLength, '', decodeLossy), nameAt, values, at, number, context)
    const isRepeated = name !== undefined && known.has(name)
    if (isRepeated) {
      const message = `${JSON.stringify(name)} was there before`
      report.report(codes['duplicate-tensor-name'], { offset: nameAt, path: `names[${number}]`, message })
    }
    const type = readType(values, at, number, context)
    if (name === undefined || isRepeated || !type) continue
    known.add(name)
    const { dtype, shape, size } = type
    const start = toSafe(values.dataOffset) ?? Number.POSITIVE_INFINITY
    entries.push({ number, at, name, dtype, shape, start, end: start + size })
  }
  return entries
}

/** Paths are only needed for the byte map: everything that is read here is there. */
function renumber(number: number, ...cursors: readonly Cursor[]): void {
  for (const cursor of cursors) {
    cursor.leave()
    cursor.enter(number)
  }
}

function readName(
  bytes: Uint8Array,
  nameAt: number,
  { nameHash }: Descriptor,
  at: number,
  number: number,
  { report }: ReadContext,
): string | undefined {
  const name = decodeUtf8(bytes)
  const path = (field: string): string => descriptorPath(number, field)
  if (name === undefined)
    report.report(codes['name-utf8'], { offset: nameAt, path: path('name'), message: 'not UTF-8' })
  if (name === '')
    report.report(codes['empty-tensor-name'], { offset: at, path: path('name_length'), message: 'empty' })
  const hash = fnv1a32(bytes)
  if (hash !== nameHash) {
    const message = `${hex(nameHash)} is stored, the name ${JSON.stringify(decodeLossy(bytes))} has ${hex(hash)}`
    report.report(codes['name-hash'], { offset: at, length: 4, path: path('name_hash'), message })
  }
  return name
}

function readType(
  values: Descriptor,
  at: number,
  number: number,
  { report }: ReadContext,
): { readonly dtype: DType; readonly shape: readonly number[]; readonly size: number } | undefined {
  const complain = (code: keyof typeof codes, field: keyof Descriptor, name: string, message: string): undefined => {
    report.report(codes[code], { offset: at + descriptor.offsetOf(field), path: descriptorPath(number, name), message })
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
