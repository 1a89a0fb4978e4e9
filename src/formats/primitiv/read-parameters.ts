// A Tensor is a Shape (a list of dims, then a batch) and its data. A Parameter is a Tensor, a count, and that many statistics, each a
// name and a Tensor. A Model is a count and that many parameters, each behind its key: the list of names that leads to it from the root.
//
// Elements are float32 in column order: the first index runs fastest. A batch above 1 counts as one more dimension, the last.
import { encodeUtf8 } from '../../bytes/index.js'
import type { FieldReader, Name } from './fields.js'
import { maxDims } from './header.js'
import { joinNames, type Key } from './names.js'

export interface StoredTensor {
  readonly dims: readonly number[]
  readonly batch: number
  /** Where the data begins. */
  readonly offset: number
  readonly length: number
  /** Whether data and shape agree; a tensor that is not sound was reported and has no place in the model. */
  readonly sound: boolean
}

/** Is told about tensors as they are met: each value, and behind it its statistics. */
export interface ParameterVisitor {
  value(key: Key, at: number, stored: StoredTensor): void
  stat(name: Name, at: number, stored: StoredTensor): void
}

// No tensor is smaller than its empty list of dims, batch, header of the data and one element, each in the shortest form there is.
const minTensor = 1 + 1 + 2 + 4
const minStat = 1 + minTensor
const minParameter = 1 + minTensor + 1

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
  if (rank > maxDims) fields.fail('shape-depth', start, `${rank} dimensions, ${maxDims} are the most`)
  let sound = true
  for (let i = 0; i < rank; i++) {
    const at = fields.msgpack.offset
    const dim = fields.uint('dims', i)
    if (dim === 0) {
      fields.say('shape-zero', at, 'the dimension is 0')
      sound = false
    }
    scratch[i] = dim
  }
  const batchAt = fields.msgpack.offset
  const batch = fields.uint('batch')
  if (batch === 0) {
    fields.say('shape-zero', batchAt, 'the batch is 0')
    sound = false
  }
  return { dims: scratch.slice(0, rank), batch, batchAt, sound }
}

/** Lists are collected in scratch and copied at their exact length: one that grows takes several times the memory. */
const scratch: number[] = []

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
  const count = elementCount(dims, batch)
  fields.wanted = count * 4
  const length = fields.binHeader('data')
  const fits = count * 4 === length
  // Without dimensions to multiply, a wrong size would only repeat what was said about the shape.
  if (!fits && shape.sound) fields.say('data-size', start, describeSize(length, dims, batch))
  const sound = fits && shape.sound && (role !== 'value' || batch === 1)
  const offset = fields.msgpack.offset
  fields.skip(length)
  return { dims, batch, offset, length, sound }
}

/** Exact up to 2^53; beyond that it only matters that no data is as long. The reference wraps around at 2^32. */
function elementCount(dims: readonly number[], batch: number): number {
  let count = batch
  for (const dim of dims) count *= dim
  return count
}

function describeSize(length: number, dims: readonly number[], batch: number): string {
  const count = dims.reduce((product, dim) => product * BigInt(dim), BigInt(batch))
  const shape = `[${dims.join(', ')}]${batch === 1 ? '' : ` with batch ${batch}`}`
  return `${length} bytes, but ${shape} takes ${count * 4n}`
}

/** Where a file broke off. */
export interface Unread {
  readonly name: string | undefined
  /** Statistics of the same parameter; undefined when their number was not reached either. */
  readonly stats: number | undefined
  /** Parameters that were announced. */
  readonly behind: number
}

/** Walks over the parameters of a model, or over the one of a parameter file. */
export class ParameterWalk {
  readonly #fields: FieldReader
  readonly #visitor: ParameterVisitor
  readonly #keyed: boolean
  #left: number
  #index = 0
  #stage: 'count' | 'value' | 'stat-count' | 'stats'
  #key: Key | undefined
  #inValue = false
  #statCount = 0
  #statsLeft = 0
  #statName: Name | undefined

  constructor(fields: FieldReader, keyed: boolean, visitor: ParameterVisitor) {
    this.#fields = fields
    this.#visitor = visitor
    this.#keyed = keyed
    this.#left = keyed ? 0 : 1
    this.#stage = keyed ? 'count' : 'value'
    fields.scope = () => this.#scope()
  }

  /** Goes on behind a value that was read elsewhere. */
  skipValue(): void {
    this.#stage = 'stat-count'
  }

  /** One record; false when there is none left. */
  step(): boolean {
    if (this.#stage === 'count') {
      this.#left = this.#readCount('param_count', minParameter)
      this.#stage = 'value'
    } else if (this.#stage === 'value') {
      if (this.#left === 0) return false
      this.#readValue()
    } else if (this.#stage === 'stat-count') {
      this.#statCount = this.#statsLeft = this.#readCount('stat_count', minStat)
      this.#stage = 'stats'
      if (this.#statsLeft === 0) this.#finish()
    } else {
      this.#readStat()
      if (this.#statsLeft === 0) this.#finish()
    }
    this.#fields.commit()
    return true
  }

  #readValue(): void {
    const fields = this.#fields
    this.#key = undefined
    this.#inValue = !this.#keyed
    const at = fields.msgpack.offset
    fields.wanted = undefined
    const key = this.#keyed ? readKey(fields) : noKey
    this.#key = key
    this.#inValue = true
    fields.place = 0
    const value = readTensor(fields, 'value')
    if (this.#isNamed()) this.#visitor.value(key, at, value)
    this.#stage = 'stat-count'
  }

  #readStat(): void {
    const fields = this.#fields
    const at = fields.msgpack.offset
    this.#statName = undefined
    const name = fields.name('key')
    this.#statName = name
    fields.place = this.#statCount - this.#statsLeft + 1
    const tensor = readTensor(fields, 'other')
    if (this.#isNamed()) this.#visitor.stat(name, at, tensor)
    this.#statsLeft--
    this.#statName = undefined
  }

  /** Without any name a parameter can be neither shown nor written; that was reported. */
  #isNamed(): boolean {
    return !this.#keyed || this.#key!.names.length > 0
  }

  #finish(): void {
    this.#left--
    this.#index++
    this.#stage = 'value'
    this.#key = undefined
  }

  #readCount(field: string, least: number): number {
    const at = this.#fields.msgpack.offset
    const count = this.#fields.uint(field)
    const room = Math.floor(this.#fields.msgpack.remaining / least)
    // A file that was cut announces more than it has. Nothing is taken for the count; the walk ends where the file does.
    if (count > room && !this.#fields.context.onLost) {
      this.#fields.fail(
        'count',
        at,
        `${count} entries are announced, the rest of the file has room for ${room} at most`,
      )
    }
    return count
  }

  /** What was being read when the file broke off, and how much was still to come behind it. */
  unread(): Unread {
    const owner = this.#key && joinNames(this.#key.names)
    if (this.#stage === 'stats') {
      const name = this.#statName && owner !== undefined ? `${owner}#${this.#statName.text}` : undefined
      return { name, stats: this.#statsLeft - 1, behind: this.#left - 1 }
    }
    if (this.#stage === 'value') return { name: owner, stats: undefined, behind: Math.max(0, this.#left - 1) }
    return { name: undefined, stats: 0, behind: this.#stage === 'count' ? 0 : this.#left - 1 }
  }

  #scope(): string {
    if (this.#stage === 'count') return ''
    const parameter = this.#keyed ? this.#parameterPath() : ''
    if (this.#stage === 'stat-count') return parameter
    if (this.#stage === 'value') return this.#inValue ? inside(parameter, 'value') : parameter
    const stat = this.#statName ? JSON.stringify(this.#statName.text) : String(this.#statCount - this.#statsLeft)
    return inside(parameter, `stats[${stat}]`)
  }

  #parameterPath(): string {
    return `params[${this.#key ? JSON.stringify(this.#key.names.join('.')) : this.#index}]`
  }
}

const inside = (outer: string, inner: string): string => (outer === '' ? inner : `${outer}.${inner}`)

const nameScratch: string[] = Array.from({ length: 16 }, () => '')
const noKey: Key = { names: [] }

function readKey(fields: FieldReader): Key {
  const at = fields.msgpack.offset
  const count = fields.container('array', 'key')
  if (count === 0) fields.say('empty-key', at, 'the key has no names')
  const found = count <= nameScratch.length ? nameScratch : []
  let raw: Uint8Array[] | undefined
  for (let i = 0; i < count; i++) {
    const name = fields.name('key', i)
    if (name.raw && !raw) raw = found.slice(0, i).map(encodeUtf8)
    raw?.push(name.raw ?? encodeUtf8(name.text))
    found[i] = name.text
  }
  return { names: found.slice(0, count), raw }
}
