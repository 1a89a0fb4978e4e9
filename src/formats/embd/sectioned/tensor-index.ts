// The tensor index: descriptors of 32 bytes, and behind the last one all names in the same order, without separators.
import {
  type ByteSource,
  Cursor,
  countElements,
  decodeLossy,
  decodeUtf8,
  type Range,
  toSafe,
} from '../../../bytes/index.js'
import { fnv1a32 } from '../../../digest/hasher.js'
import type { DType } from '../../../dtypes/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { hex } from '../crc.js'
import { type Descriptor, descriptor, dtypes, maxRank } from '../structs.js'

/** A tensor whose descriptor is right in itself. As a range: where its data should lie in the data section. */
export interface IndexEntry extends Range {
  /** The number of its descriptor. */
  readonly number: number
  /** Without data where the section is too short. */
  readonly tensor: Tensor
}

/** Where the data section lies, and how much of it the file has. */
export interface DataPlace {
  readonly source: ByteSource
  readonly offset: number
  readonly size: number
}

export const descriptorPath = (number: number, field: string): string => `tensors[${number}].${field}`

/** How many bytes of names the descriptors announce. */
export const totalNameLength = (descriptors: Uint8Array): number =>
  nameLengths(descriptors).reduce((total, length) => total + length, 0)

function nameLengths(descriptors: Uint8Array): Uint16Array {
  const view = new DataView(descriptors.buffer, descriptors.byteOffset, descriptors.byteLength)
  const lengths = new Uint16Array(descriptors.byteLength / descriptor.size)
  const field = descriptor.offsetOf('nameLength')
  for (let i = 0; i < lengths.length; i++) lengths[i] = view.getUint16(i * descriptor.size + field, true)
  return lengths
}

/** Reads the descriptors, which stand in the file at `offset`, and the names behind them; tensors whose names are missing are left out. */
export function readTensorIndex(
  descriptors: Uint8Array,
  names: Uint8Array,
  offset: number,
  data: DataPlace,
  { report, extents }: ReadContext,
): IndexEntry[] {
  const count = descriptors.byteLength / descriptor.size
  const entries: IndexEntry[] = []
  const hashes = hashNames(descriptors, names)
  const shared = repeatedIn(hashes)
  /** Names that share their hash with another. All others are different, and need not be remembered. */
  const known = new Set<string>()
  const cursor = new Cursor(descriptors, report, { base: offset, extents, path: ['tensors', 0] })
  const nameCursor = new Cursor(names, report, { base: offset + descriptors.byteLength, extents, path: ['names', 0] })
  let number = 0
  const complain: Complain = (code, field, name, message) => {
    const at = offset + number * descriptor.size + descriptor.offsetOf(field)
    report.report(codes[code], { offset: at, path: descriptorPath(number, name), message })
  }
  for (; number < count; number++) {
    if (extents) renumber(number, cursor, nameCursor)
    const at = cursor.offset
    const nameAt = nameCursor.offset
    const values = descriptor.read(cursor)
    if (values.nameLength > nameCursor.remaining) break
    const bytes = nameCursor.raw(values.nameLength, '', decodeLossy)
    const name = decodeUtf8(bytes)
    const hash = hashes[number]!
    if (name === undefined) {
      const path = descriptorPath(number, 'name')
      report.report(codes['name-utf8'], { offset: nameAt, path, message: 'not UTF-8' })
    }
    if (name === '') complain('empty-tensor-name', 'nameHash', 'name_length', 'empty')
    if (hash !== values.nameHash) {
      const message = `${hex(values.nameHash)} is stored, the name ${JSON.stringify(decodeLossy(bytes))} has ${hex(hash)}`
      report.report(codes['name-hash'], { offset: at, length: 4, path: descriptorPath(number, 'name_hash'), message })
    }
    const isRepeated = name !== undefined && known.has(name)
    if (isRepeated) {
      const message = `${JSON.stringify(name)} was there before`
      report.report(codes['duplicate-tensor-name'], { offset: nameAt, path: `names[${number}]`, message })
    }
    const type = readType(values, complain)
    if (name === undefined || isRepeated || !type) continue
    if (shared.has(hash)) known.add(name)
    const { dtype, shape, size } = type
    const start = toSafe(values.dataOffset) ?? Number.POSITIVE_INFINITY
    const end = start + size
    const payload = end <= data.size ? rangePayload(data.source, data.offset + start, size) : null
    const tensor: Tensor = { name, dtype, shape, order: 'row', role: 'weight', data: payload }
    entries.push({ number, start, end, tensor })
  }
  return entries
}

/** The hash of each name, up to the first that is missing. */
function hashNames(descriptors: Uint8Array, names: Uint8Array): Uint32Array {
  const lengths = nameLengths(descriptors)
  const hashes = new Uint32Array(lengths.length)
  let at = 0
  for (let i = 0; i < lengths.length; i++) {
    const end = at + lengths[i]!
    if (end > names.byteLength) return hashes.subarray(0, i)
    hashes[i] = fnv1a32(names, at, end)
    at = end
  }
  return hashes
}

function repeatedIn(values: Uint32Array): Set<number> {
  const sorted = values.toSorted()
  return new Set(sorted.filter((value, i) => i > 0 && value === sorted[i - 1]))
}

/** Paths are only needed for the byte map: everything that is read here is there. */
function renumber(number: number, ...cursors: readonly Cursor[]): void {
  for (const cursor of cursors) {
    cursor.leave()
    cursor.enter(number)
  }
}

type Complain = (code: keyof typeof codes, field: keyof Descriptor, name: string, message: string) => undefined

function readType(
  values: Descriptor,
  complain: Complain,
): { readonly dtype: DType; readonly shape: readonly number[]; readonly size: number } | undefined {
  const dtype = dtypes[values.dtype]
  if (!dtype) complain('dtype', 'dtype', 'dtype', `type ${values.dtype}, but only 0 to ${dtypes.length - 1} exist`)
  const { ndim } = values
  if (ndim < 1 || ndim > maxRank) {
    return complain('ndim', 'ndim', 'ndim', `${ndim} dimensions, but only 1 to ${maxRank} are possible`)
  }
  const fields = [values.shape0, values.shape1, values.shape2, values.shape3]
  const shape = fields.slice(0, ndim)
  let extra = ndim
  while (fields[extra] === 0) extra++
  if (extra < maxRank) {
    const message = `${fields[extra]}, beyond ${ndim} dimensions`
    complain('unused-shape', `shape${extra}` as keyof Descriptor, `shape[${extra}]`, message)
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
