// The tensors of a file, as few bytes each as they need. An object for each one takes some 300 bytes of memory and time to collect; what most
// of them are made of (a name, a type, some dimensions, a range of a file) takes 15 and the name.
import { LazyList } from '../bytes/lazy-list.js'
import { NumberList } from '../bytes/number-list.js'
import { numberRoom, RecordReader, RecordWriter, textRoom } from '../bytes/record-blocks.js'
import type { DType } from '../dtypes/dtype.js'
import type { Payload } from './payload.js'
import { RangePayload } from './range-payload.js'
import { areEqual } from './same-tensor.js'
import type { Tensor } from './tensor.js'

const isColumn = 1
const isState = 2
const hasRange = 4
const hasPayload = 8
const hasEncoding = 16
const hasPath = 32
const hasRest = 64
/** The tensor as it was given: something about it fits no record. */
const isKept = 128

/** Shapes beyond so many are written out. */
const maxShapes = 4096

/** What few tensors have is kept as it is. */
type Rest = Pick<Tensor, 'path' | 'rawName' | 'stat' | 'quant' | 'extra'>

export class PackedTensors extends LazyList<Tensor> {
  readonly #writer = new RecordWriter()
  readonly #reader = new RecordReader(this.#writer)
  readonly #kept: unknown[] = []
  readonly #shapes: (readonly number[])[] = []
  readonly #shapeNumbers = new Map<string, number>()
  #lastShape = 0
  #lastGiven: readonly number[] | undefined
  readonly #shared = new Map<unknown, number>()
  readonly #sharedList: unknown[] = []
  readonly #places = new NumberList(Float64Array)

  static from(tensors: Iterable<Tensor>): PackedTensors {
    const packed = new PackedTensors()
    for (const tensor of tensors) packed.push(tensor)
    return packed
  }

  get length(): number {
    return this.#places.length
  }

  /** `ascii`: the bytes of the name, for those who have them. */
  push(tensor: Tensor, ascii?: Uint8Array, from = 0, to = 0): void {
    this.#places.push(this.#pack(tensor, ascii, from, to))
  }

  /** Puts another tensor in the place of one. */
  replace(index: number, tensor: Tensor): void {
    this.#places.set(index, this.#pack(tensor))
  }

  /** The name alone. */
  nameAt(index: number): string {
    const reader = this.#reader
    reader.moveTo(this.#places.at(index))
    return reader.byte() === isKept ? (this.#kept[reader.number()] as Tensor).name : reader.text()
  }

  protected make(index: number): Tensor {
    const reader = this.#reader
    reader.moveTo(this.#places.at(index))
    const flags = reader.byte()
    if (flags === isKept) return this.#kept[reader.number()] as Tensor
    const name = reader.text()
    const dtype = this.#sharedList[reader.number()] as DType
    const shape = this.#shapes[reader.number()] ?? this.#numbers()
    let data: Payload | null = null
    if (flags & hasRange) {
      const source = this.#sharedList[reader.number()] as RangePayload['source']
      const offset = reader.number()
      data = new RangePayload(source, offset, reader.number())
    } else if (flags & hasPayload) data = this.#kept[reader.number()] as Payload
    const order = flags & isColumn ? 'column' : 'row'
    const role = flags & isState ? 'state' : 'weight'
    if (flags < hasEncoding) return { name, dtype, shape, order, role, data }
    const path = flags & hasPath ? cut(name, this.#numbers()) : undefined
    const stat = path && statBehind(name, path)
    // Whole objects are several times as fast as those that are put together.
    if (path && !(flags & (hasEncoding | hasRest))) {
      if (stat === undefined) return { name, path, dtype, shape, order, role, data }
      return { name, path, dtype, shape, order, role, stat, data }
    }
    return {
      name,
      ...(path && { path }),
      ...(stat !== undefined && { stat }),
      dtype,
      ...(flags & hasEncoding && { encoding: this.#sharedList[reader.number()] as DType }),
      shape,
      order,
      role,
      data,
      ...(flags & hasRest && (this.#kept[reader.number()] as Rest)),
    }
  }

  /** Writes a record; the answer is its place. */
  #pack(tensor: Tensor, ascii?: Uint8Array, from = 0, to = 0): number {
    const writer = this.#writer
    const { name, path, stat, dtype, encoding, shape, order, role, data } = tensor
    if (shape !== this.#lastGiven && !shape.every(isCount)) return this.#keep(tensor)
    const isJoined = path !== undefined && isJoinOf(name, path, stat)
    const rest = restOf(tensor, isJoined)
    const room = 16 * numberRoom + textRoom(name) + numberRoom * (shape.length + (path?.length ?? 0))
    const place = writer.begin(room)
    let flags = (order === 'column' ? isColumn : 0) | (role === 'state' ? isState : 0)
    if (data instanceof RangePayload) flags |= hasRange
    else if (data) flags |= hasPayload
    if (isJoined) flags |= hasPath
    if (encoding) flags |= hasEncoding
    if (rest) flags |= hasRest
    writer.byte(flags)
    if (ascii) writer.bytes(ascii, from, to)
    else writer.text(name)
    writer.number(this.#share(dtype))
    this.#writeShape(shape)
    if (data instanceof RangePayload) {
      writer.number(this.#share(data.source))
      writer.number(data.offset)
      writer.number(data.byteLength)
    } else if (data) writer.number(this.#kept.push(data) - 1)
    if (isJoined) this.#write(path.map((part) => part.length))
    if (encoding) writer.number(this.#share(encoding))
    if (rest) writer.number(this.#kept.push(rest) - 1)
    return place
  }

  #keep(tensor: Tensor): number {
    const place = this.#writer.begin(1 + numberRoom)
    this.#writer.byte(isKept)
    this.#writer.number(this.#kept.push(tensor) - 1)
    return place
  }

  /** Neighbours are often alike, and there are few shapes in a model: the tensors of one have the same list. */
  #writeShape(shape: readonly number[]): void {
    if (shape !== this.#lastGiven && !areEqual(shape, this.#shapes[this.#lastShape])) {
      const key = shape.join()
      this.#lastShape = this.#shapeNumbers.get(key) ?? this.#shapes.length
      if (this.#lastShape < maxShapes) {
        this.#shapes[this.#lastShape] ??= [...shape]
        this.#shapeNumbers.set(key, this.#lastShape)
      }
    }
    this.#lastGiven = shape
    this.#writer.number(this.#lastShape)
    if (this.#lastShape === maxShapes) this.#write(shape)
  }

  #write(numbers: readonly number[]): void {
    this.#writer.number(numbers.length)
    for (const value of numbers) this.#writer.number(value)
  }

  #numbers(): number[] {
    const count = this.#reader.number()
    const numbers: number[] = []
    for (let i = 0; i < count; i++) numbers.push(this.#reader.number())
    return numbers
  }

  /** The number of something that many tensors have. */
  #share(value: unknown): number {
    const known = this.#shared.get(value)
    if (known !== undefined) return known
    this.#shared.set(value, this.#sharedList.length)
    return this.#sharedList.push(value) - 1
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

function restOf({ path, rawName, stat, quant, extra }: Tensor, isJoined: boolean): Rest | undefined {
  const ownPath = isJoined ? undefined : path
  const ownStat = isJoined ? undefined : stat
  if (!ownPath && !rawName && ownStat === undefined && !quant && !extra) return undefined
  const rest: { -readonly [K in keyof Rest]: Rest[K] } = {}
  if (ownPath) rest.path = ownPath
  if (rawName) rest.rawName = rawName
  if (ownStat !== undefined) rest.stat = ownStat
  if (quant) rest.quant = quant
  if (extra) rest.extra = extra
  return rest
}

const dot = 0x2e

/** Whether a tensor is called as hierarchical formats do it: by its path, and a statistic by its own name behind that. */
function isJoinOf(name: string, path: readonly string[], stat: string | undefined): boolean {
  let at = 0
  for (let i = 0; i < path.length; i++) {
    if (i > 0 && name.charCodeAt(at++) !== dot) return false
    if (!name.startsWith(path[i]!, at)) return false
    at += path[i]!.length
  }
  if (stat === undefined) return at === name.length
  return name[at] === '#' && name.length === at + 1 + stat.length && name.endsWith(stat)
}

/** The parts of such a name, by their lengths. */
function cut(name: string, lengths: readonly number[]): string[] {
  let at = 0
  return lengths.map((length) => {
    const part = name.slice(at, at + length)
    at += length + 1
    return part
  })
}

/** What stands behind the path. */
function statBehind(name: string, path: readonly string[]): string | undefined {
  let end = Math.max(0, path.length - 1)
  for (const part of path) end += part.length
  return name.length === end ? undefined : name.slice(end + 1)
}
