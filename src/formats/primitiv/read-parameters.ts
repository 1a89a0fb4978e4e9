// A Tensor is a Shape (a list of dims, then a batch) and its data. A Parameter is a Tensor, a count, and that many statistics, each a
// name and a Tensor. A Model is a count and that many parameters, each behind its key.
//
// Elements are float32 in column order: the first index runs fastest. A batch above 1 counts as one more dimension, the last.
import { encodeUtf8 } from '../../bytes/index.js'
import type { FieldReader } from './fields.js'
import { maxDims } from './header.js'
import type { Key } from './keys.js'
import type { StoredTensor, TensorCollector } from './tensors.js'

/** Where the walk is. The paths of findings follow from this, and what a file that breaks off has lost. */
export class Place {
  readonly isModel: boolean
  /** What comes next. */
  record: 'param_count' | 'value' | 'stat_count' | 'stat'
  /** How many parameters are announced; there is one in a file of its own. */
  count = 1
  index = 0
  /** Of the parameter, once it is known. */
  key: Key | undefined
  statCount = 0
  statIndex = 0
  statName: string | undefined

  constructor(isModel: boolean) {
    this.isModel = isModel
    this.record = isModel ? 'param_count' : 'value'
  }

  path(): string {
    if (this.record === 'param_count') return ''
    const parameter = this.isModel ? `params[${this.key ? JSON.stringify(this.key.names.join('.')) : this.index}]` : ''
    if (this.record === 'stat_count' || (this.record === 'value' && !this.key)) return parameter
    const stat = this.statName === undefined ? this.statIndex : JSON.stringify(this.statName)
    const inner = this.record === 'value' ? 'value' : `stats[${stat}]`
    return parameter === '' ? inner : `${parameter}.${inner}`
  }

  /** The tensor that is being read, as far as its name is known. */
  tensorName(): string | undefined {
    const owner = this.key?.names.join('.')
    if (this.record === 'value') return owner
    return this.record === 'stat' && this.statName !== undefined ? `${owner}#${this.statName}` : undefined
  }
}

// No tensor is smaller than its empty list of dims, batch, header of the data and one element, each in the shortest form there is.
const minTensor = 1 + 1 + 2 + 4
const minStat = 1 + minTensor
const minParameter = 1 + minTensor + 1

/**
 * Reads what comes next: the number of parameters, the value of one behind its key, the number of its statistics, or one of these. Returns
 * whether there was anything left. A Parameter file has one parameter, without count and key.
 */
export function readRecord(fields: FieldReader, list: TensorCollector | undefined, place: Place): boolean {
  const at = fields.msgpack.offset
  if (place.record === 'param_count') {
    place.count = readCount(fields, 'param_count', minParameter)
    place.record = 'value'
    return true
  }
  if (place.index === place.count) return false
  if (place.record === 'value') {
    place.key = undefined
    place.key = place.isModel ? readKey(fields) : { names: [] }
    fields.place = 0
    const value = readTensor(fields, 'value')
    list?.value(place.key, at, value)
    place.record = 'stat_count'
    return true
  }
  if (place.record === 'stat_count') {
    place.statCount = readCount(fields, 'stat_count', minStat)
    place.statIndex = 0
    place.record = 'stat'
  } else {
    place.statName = undefined
    const name = fields.name('key')
    place.statName = name.text
    fields.place = place.statIndex + 1
    const tensor = readTensor(fields, 'other')
    list?.stat(name, at, tensor)
    place.statIndex++
    place.statName = undefined
  }
  if (place.statIndex === place.statCount) {
    place.index++
    place.key = undefined
    place.record = 'value'
  }
  return true
}

function readCount(fields: FieldReader, field: string, minSize: number): number {
  const at = fields.msgpack.offset
  const count = fields.uint(field)
  const room = Math.floor(fields.msgpack.remaining / minSize)
  // A file that was cut announces more than it has. Nothing is allocated for the count; the walk ends where the file does.
  if (count > room && !fields.context.onLost)
    fields.fail('count', at, `${count} entries are announced, the rest of the file has room for ${room} at most`)
  return count
}

function readKey(fields: FieldReader): Key {
  const at = fields.msgpack.offset
  const count = fields.container('array', 'key')
  if (count === 0) fields.say('empty-key', at, 'the key has no names')
  const names = listOf<string>(count)
  let raw: Uint8Array[] | undefined
  for (let i = 0; i < count; i++) {
    const name = fields.name('key', i)
    if (name.raw) raw ??= names.slice(0, i).map(encodeUtf8)
    raw?.push(name.raw ?? encodeUtf8(name.text))
    names[i] = name.text
  }
  return { names, raw }
}

/** An empty list with room for exactly this many items: one that grows takes several times the memory. Long ones grow all the same. */
const listOf = <T>(count: number): T[] => (count <= 16 ? new Array<T>(count) : [])

export interface StoredShape {
  readonly dims: readonly number[]
  readonly batch: number
  readonly batchAt: number
  readonly sound: boolean
}

export function readShape(fields: FieldReader): StoredShape {
  const start = fields.msgpack.offset
  fields.wanted = undefined
  const rank = fields.container('array', 'dims')
  if (rank > maxDims) fields.fail('shape-depth', start, `${rank} dimensions, ${maxDims} is the maximum`)
  const dims = listOf<number>(rank)
  let sound = true
  for (let i = 0; i < rank; i++) {
    const at = fields.msgpack.offset
    const dim = fields.uint('dims', i)
    if (dim === 0) {
      fields.say('shape-zero', at, 'the dimension is 0')
      sound = false
    }
    dims[i] = dim
  }
  const batchAt = fields.msgpack.offset
  const batch = fields.uint('batch')
  if (batch === 0) {
    fields.say('shape-zero', batchAt, 'the batch is 0')
    sound = false
  }
  return { dims, batch, batchAt, sound }
}

/** Reads up to the data and steps over it. A value must have the batch 1; elsewhere more is only odd. */
export function readTensor(fields: FieldReader, role: 'value' | 'other'): StoredTensor {
  const shape = readShape(fields)
  if (shape.batch > 1) {
    if (role === 'value')
      fields.say('value-batch', shape.batchAt, `the batch is ${shape.batch}, the value of a parameter has 1`)
    else sayBatch(fields, shape)
  }
  return readData(fields, shape, role)
}

export function sayBatch(fields: FieldReader, { batch, batchAt }: StoredShape): void {
  fields.say('batch', batchAt, `the batch is ${batch}; the document wants 1`)
}

export function readData(fields: FieldReader, shape: StoredShape, role: 'value' | 'other'): StoredTensor {
  const start = fields.msgpack.offset
  const { dims, batch } = shape
  // Exact up to 2^53; beyond that it only matters that no data is as long. The reference wraps around at 2^32.
  const wanted = 4 * dims.reduce((count, dim) => count * dim, batch)
  fields.wanted = wanted
  const length = fields.binHeader('data')
  // Without dimensions to multiply, a wrong size would only repeat what was said about the shape.
  if (wanted !== length && shape.sound) fields.say('data-size', start, describeSize(length, dims, batch))
  const sound = wanted === length && shape.sound && (role !== 'value' || batch === 1)
  const offset = fields.msgpack.offset
  fields.skip(length)
  return { dims, batch, offset, length, sound }
}

function describeSize(length: number, dims: readonly number[], batch: number): string {
  const count = dims.reduce((product, dim) => product * BigInt(dim), BigInt(batch))
  const shape = `[${dims.join(', ')}]${batch === 1 ? '' : ` with batch ${batch}`}`
  return `${length} bytes, but ${shape} takes ${count * 4n}`
}
