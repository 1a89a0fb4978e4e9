// Writing, in version 3: entries and tensors in the model's order, every tensor filled up to the alignment, also the last. A file of
// gguf-py comes out as it went in.
import { alignUp, encodeUtf8, isPowerOfTwo, utf8Length } from '../../bytes/index.js'
import { type GgmlType, ggmlTypeOf } from '../../dtypes/ggml/index.js'
import { callerWord, failWith, usageCodes, writeCodes } from '../../errors/index.js'
import {
  dataSlot,
  type FileLayout,
  type Layout,
  type Metadata,
  type MetaList,
  type MetaValue,
  type Model,
  madeSlot,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { StoredList } from './metadata.js'
import { nameOfShard, parseShardName, placeOf, splitKeys, withoutSplitKeys } from './split.js'
import {
  alignmentKey,
  alignmentOf,
  counts,
  defaultAlignment,
  type Encoding,
  filler,
  magic,
  maxAlignment,
  preamble,
  quantizationVersionKey,
  slackKey,
  slackOf,
  slackOption,
} from './structs.js'
import { type ValueType, valueTypeOf, writeScalar } from './value-types.js'

/** How ggml's blocks are laid out since May 2023. */
const quantizationVersion = 2
/** Files count themselves in 16 bits. */
const maxShards = 65_535

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const alignment = chooseAlignment(model.metadata, options)
  const complete = completeMetadata(model, alignment)
  const slack = Number(options.extra?.[slackOption] ?? slackOf(model))
  const metadata = slack > 0 ? new Map([...complete, [slackKey, filler(slack)]]) : complete
  const shards =
    options.shardSize === undefined ? [model.tensors] : splitShards(model.tensors, options.shardSize, alignment)
  if (shards.length > maxShards) {
    const message = `there would be ${shards.length} files, a set has at most ${maxShards}`
    failWith(usageCodes.option, { file: options.name, path: callerWord('--shard-size', 'shardSize'), message })
  }
  if (shards.length === 1) return { files: [layoutFile(options.name, metadata, model.tensors, alignment)] }
  const stem = parseShardName(options.name)?.stem ?? options.name.replace(/\.gguf$/i, '')
  const files = shards.map((tensors, no) => {
    const keys = new Map(no === 0 ? withoutSplitKeys(metadata) : [])
    keys.set(splitKeys.no, { type: 'u16', value: no })
    keys.set(splitKeys.tensors, { type: 'i32', value: model.tensors.length })
    keys.set(splitKeys.count, { type: 'u16', value: shards.length })
    if (no > 0 && alignment !== defaultAlignment) keys.set(alignmentKey, { type: 'u32', value: alignment })
    return layoutFile(nameOfShard(stem, no, shards.length), keys, tensors, alignment)
  })
  return { files }
}

export function chooseAlignment(metadata: Metadata, { align, name }: Pick<WriteOptions, 'align' | 'name'>): number {
  if (align === undefined) {
    const stated = metadata.get(alignmentKey)
    return alignmentOf(stated) ?? defaultAlignment
  }
  if (isPowerOfTwo(align) && align >= 8 && align <= maxAlignment) return align
  const message = `the alignment ${align} is not a power of two from 8 to ${maxAlignment}`
  return failWith(usageCodes.option, { file: name, path: callerWord('--align', 'align'), message })
}

/** The metadata with the keys that follow from how the file is written. */
export function completeMetadata(model: Model, alignment: number): Metadata {
  const metadata = new Map<string, MetaValue>(model.metadata)
  const stated = metadata.get(alignmentKey)
  if (stated ? !(stated.type === 'u32' && stated.value === alignment) : alignment !== defaultAlignment) {
    metadata.set(alignmentKey, { type: 'u32', value: alignment })
  }
  const isQuantized = model.tensors.some((tensor) => tensor.dtype.kind === 'block')
  const needsVersion = isQuantized && !metadata.has(quantizationVersionKey)
  // Of a set only the first file has it.
  if (needsVersion && (placeOf(metadata)?.no ?? 0) === 0) {
    metadata.set(quantizationVersionKey, { type: 'u32', value: quantizationVersion })
  }
  return metadata
}

/** Fills shards in order; a tensor larger than the limit gets one of its own. */
function splitShards(tensors: readonly Tensor[], limit: number, alignment: number): readonly Tensor[][] {
  const shards: Tensor[][] = [[]]
  let size = 0
  for (const tensor of tensors) {
    const padded = alignUp(tensor.data?.byteLength ?? 0, alignment)
    if (size > 0 && size + padded > limit) {
      shards.push([])
      size = 0
    }
    shards.at(-1)!.push(tensor)
    size += padded
  }
  return shards
}

function layoutFile(name: string, metadata: Metadata, tensors: readonly Tensor[], alignment: number): FileLayout {
  let end = 0
  const offsets = tensors.map(({ data }) => {
    const offset = end
    end += alignUp(data!.byteLength, alignment)
    return offset
  })
  const header = layoutHeader(metadata, tensors, offsets)
  const head = headerSlots(header, alignUp(header.length, alignment))
  const slots = slotsMadeBy(function* () {
    yield* head
    for (const { name: tensor, data } of tensors) {
      const size = data!.byteLength
      const padding = alignUp(size, alignment) - size
      yield dataSlot(tensor, data!)
      if (padding > 0) yield { kind: 'zeros', path: 'padding', length: padding }
    }
  })
  return { name, slots }
}

/** The index, up to where it ends. */
export interface Header {
  readonly slots: readonly Slot[]
  readonly length: number
}

/** The entries of more tensors than this become bytes when they are written, as many at once: those of the largest models have 100 MB. */
const groupSize = 1024

/** Offsets count from the start of the data. */
export function layoutHeader(metadata: Metadata, tensors: readonly Tensor[], offsets: readonly number[]): Header {
  const writer = new ByteWriter()
  writer.raw(preamble.write({ magic, version: 3 }))
  writer.raw(counts.write({ tensorCount: BigInt(tensors.length), metadataKvCount: BigInt(metadata.size) }))
  for (const [key, value] of metadata) putEntry(writer, key, value)
  putTensors(writer, tensors.slice(0, groupSize), offsets)
  const slots: Slot[] = [{ kind: 'bytes', path: 'header', bytes: writer.bytes }]
  let length = writer.length
  for (let start = groupSize; start < tensors.length; start += groupSize) {
    const group = tensors.slice(start, start + groupSize)
    const size = group.reduce((sum, tensor) => sum + tensorEntrySize(tensor), 0)
    slots.push(
      madeSlot(
        'header',
        size,
        () => putTensors(new ByteWriter(), group, offsets.slice(start, start + groupSize)).bytes,
      ),
    )
    length += size
  }
  return { slots, length }
}

function putTensors(writer: ByteWriter, tensors: readonly Tensor[], offsets: readonly number[]): ByteWriter {
  for (const [i, tensor] of tensors.entries()) putTensor(writer, tensor, offsets[i]!)
  return writer
}

export function headerSlots({ slots, length }: Header, dataStart: number): Slot[] {
  const padding = dataStart - length
  return padding > 0 ? [...slots, { kind: 'zeros', path: 'header_padding', length: padding }] : [...slots]
}

// Metadata values and tensor entries as bytes, always in the form of version 3, little-endian.

/** Bytes that grow as they are written. */
class ByteWriter {
  #bytes = new Uint8Array(4096)
  #view = new DataView(this.#bytes.buffer)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** What was written so far. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  put(size: number, set: (view: DataView, offset: number) => void): void {
    this.#reserve(size)
    set(this.#view, this.#length)
    this.#length += size
  }

  u32(value: number): void {
    this.put(4, (view, offset) => view.setUint32(offset, value, true))
  }

  u64(value: number | bigint): void {
    this.put(8, (view, offset) => view.setBigUint64(offset, BigInt(value), true))
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.byteLength)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.byteLength
  }

  string(bytes: Uint8Array): void {
    this.u64(bytes.byteLength)
    this.raw(bytes)
  }

  #reserve(size: number): void {
    if (this.#length + size <= this.#bytes.byteLength) return
    const grown = new Uint8Array(Math.max(this.#length + size, 2 * this.#bytes.byteLength))
    grown.set(this.bytes)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}

function putEntry(writer: ByteWriter, key: string, value: MetaValue): void {
  const type = requireType(value.type, key)
  writer.string(encodeUtf8(key))
  writer.u32(type.number)
  putValue(writer, type, value, key)
}

function requireType(type: string, key: string): ValueType {
  const found = valueTypeOf(type)
  if (found) return found
  const message = `GGUF metadata has no type for ${type}`
  return failWith(writeCodes['dtype-unsupported'], { file: '', path: `metadata[${JSON.stringify(key)}]`, message })
}

function putValue(writer: ByteWriter, type: ValueType, value: MetaValue, key: string): void {
  if (value.type === 'array') putList(writer, value, key)
  else if (value.type === 'str') writer.string(value.bytes ?? encodeUtf8(value.value))
  else writer.put(type.size, (view, offset) => writeScalar(type, view, offset, value))
}

function putList(writer: ByteWriter, list: MetaList, key: string): void {
  const type = requireType(list.item, key)
  writer.u32(type.number)
  writer.u64(list.length)
  // Most lists come from a file of the same form, and their bytes go over as they are.
  if (list instanceof StoredList && isCurrent(list.index.encoding)) {
    writer.raw(list.bytes)
    return
  }
  for (const value of list.values()) {
    if (value.type !== list.item) {
      const message = `an item is ${value.type}, but all items of this list must be ${list.item}`
      failWith(writeCodes['dtype-unsupported'], { file: '', path: `metadata[${JSON.stringify(key)}]`, message })
    }
    putValue(writer, type, value, key)
  }
}

const isCurrent = ({ littleEndian, lengthSize }: Encoding): boolean => littleEndian && lengthSize === 8

function requireGgmlType(tensor: Tensor): GgmlType {
  const type = ggmlTypeOf(tensor.dtype)
  if (type && tensor.data) return type
  const message = type ? 'a tensor without data has no place in GGUF' : `ggml has no type for ${tensor.dtype.id}`
  return failWith(writeCodes['dtype-unsupported'], {
    file: '',
    path: `tensors[${JSON.stringify(tensor.name)}]`,
    message,
  })
}

function putTensor(writer: ByteWriter, tensor: Tensor, offset: number): void {
  writer.string(encodeUtf8(tensor.name))
  writer.u32(tensor.shape.length)
  for (const dim of tensor.shape.toReversed()) writer.u64(dim)
  writer.u32(requireGgmlType(tensor).number)
  writer.u64(offset)
}

/** How many bytes `putTensor` writes. */
function tensorEntrySize(tensor: Tensor): number {
  requireGgmlType(tensor)
  return 8 + utf8Length(tensor.name) + 4 + 8 * tensor.shape.length + 4 + 8
}
