// The tensor index: descriptors of 32 bytes, and behind the last one all names in the same order, without separators.
import { type ByteSource, Cursor, countElements, decodeLossy, decodeUtf8, toSafe } from '../../../bytes/index.js'
import { NameSet } from '../../../bytes/name-set.js'
import { fnv1a32 } from '../../../digest/fnv1a.js'
import type { DType } from '../../../dtypes/index.js'
import { type ReadContext, rangePayload } from '../../../model/index.js'
import { PackedTensors } from '../../../model/packed-tensors.js'
import { codes } from '../codes.js'
import { hex } from '../crc.js'
import { type Descriptor, descriptor, dtypes, maxRank } from '../structs.js'

/** What the file has of the data section. */
export interface DataRange {
  readonly offset: number
  readonly size: number
}

/** The tensors whose descriptors are right in themselves; entry i of every list belongs to tensor i. A file can have a million. */
export class TensorIndex {
  /** Those whose bytes are not in the data section have no data. */
  readonly tensors = new PackedTensors()
  /** The number of the descriptor. */
  readonly numbers: Uint32Array
  /** From the start of the data section; infinite when no file can be that large. */
  readonly offsets: Float64Array
  readonly sizes: Float64Array
  readonly #at: number
  readonly #announced: number

  /** There are `count` descriptors from `at` on; the header can announce more of them. */
  constructor(at: number, count: number, announced = count) {
    this.#at = at
    this.#announced = announced
    this.numbers = new Uint32Array(count)
    this.offsets = new Float64Array(count)
    this.sizes = new Float64Array(count)
  }

  /** Whether all that are announced are here. */
  get isComplete(): boolean {
    return this.tensors.length === this.#announced
  }

  /** Where something stands in the descriptor of tensor i. */
  placeOf(i: number, field: keyof Descriptor): number {
    return this.#at + this.numbers[i]! * descriptor.size + descriptor.offsetOf(field)
  }

  /** The same without the tensors that have no data. */
  withData(): TensorIndex {
    const rest = new TensorIndex(this.#at, this.tensors.length, this.#announced)
    for (const [i, tensor] of this.tensors.entries()) {
      if (!tensor.data) continue
      const to = rest.tensors.length
      rest.tensors.push(tensor)
      rest.numbers[to] = this.numbers[i]!
      rest.offsets[to] = this.offsets[i]!
      rest.sizes[to] = this.sizes[i]!
    }
    return rest
  }
}

export const descriptorPath = (index: number, field: string): string => `tensors[${index}].${field}`

/** How many bytes of names the descriptors announce. */
export function totalNameLength(descriptors: Uint8Array): number {
  const view = new DataView(descriptors.buffer, descriptors.byteOffset, descriptors.byteLength)
  let total = 0
  for (let at = descriptor.offsetOf('nameLength'); at < descriptors.byteLength; at += descriptor.size) {
    total += view.getUint16(at, true)
  }
  return total
}

/** So many bytes of names are fetched at once: a million take ten times as many. */
const nameWindow = 1 << 22

/** Where the names stand. */
export interface NameTable {
  readonly source: ByteSource
  readonly offset: number
  /** May be less than announced; the tensors behind the end are left out. */
  readonly length: number
  /** How many bytes behind them will be wanted next. */
  readonly ahead: number
}

/** Reads descriptors, which stand in the file at `offset`, and their names. */
export async function readTensorIndex(
  descriptors: Uint8Array,
  names: NameTable,
  offset: number,
  data: DataRange,
  context: ReadContext,
): Promise<TensorIndex> {
  const { report, extents } = context
  const count = descriptors.byteLength / descriptor.size
  const index = new TensorIndex(offset, count)
  const { tensors } = index
  const known = new NameSet((position) => tensors.nameAt(position))
  const cursor = new Cursor(descriptors, report, { base: offset, extents, path: ['tensors', 0] })
  let table = new Cursor(new Uint8Array(0), report, { base: names.offset, extents, path: ['names', 0] })
  for (let i = 0; i < count; i++) {
    if (extents) renumber(i, cursor, table)
    const at = cursor.offset
    const values = descriptor.read(cursor)
    if (values.nameLength > table.remaining) {
      if (table.offset + values.nameLength > names.offset + names.length) break
      table = await nextNames(names, table.offset, i, context)
    }
    const nameAt = table.offset
    const bytes = table.raw(values.nameLength, '', decodeLossy)
    const hash = fnv1a32(bytes)
    const name = readName(bytes, nameAt, hash, values, at, i, context)
    const isRepeated = name !== undefined && known.find(name, hash | 0) !== undefined
    if (isRepeated) {
      const message = `${JSON.stringify(name)} was there before`
      report.report(codes['duplicate-tensor-name'], { offset: nameAt, path: `names[${i}]`, message })
    }
    const type = readType(values, at, i, context)
    if (name === undefined || isRepeated || !type) continue
    known.add(name, tensors.length, hash | 0)
    const { dtype, shape, size } = type
    const start = toSafe(values.dataOffset) ?? Number.POSITIVE_INFINITY
    index.numbers[tensors.length] = i
    index.offsets[tensors.length] = start
    index.sizes[tensors.length] = size
    const payload = start + size <= data.size ? rangePayload(names.source, data.offset + start, size) : null
    tensors.push({ name, dtype, shape, order: 'row', role: 'weight', data: payload })
  }
  return index
}

/** The names from `offset` on, the first of which is name number `index`. */
async function nextNames(
  { source, offset: start, length, ahead }: NameTable,
  offset: number,
  index: number,
  { report, extents, signal }: ReadContext,
): Promise<Cursor> {
  const left = start + length - offset
  const size = Math.min(nameWindow, left)
  const bytes = await source.read(offset, size, { signal, ahead: left - size + ahead })
  return new Cursor(bytes, report, { base: offset, extents, path: ['names', index] })
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
  hash: number,
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
): { readonly dtype: DType; readonly shape: readonly number[]; readonly size: number } | undefined {
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
