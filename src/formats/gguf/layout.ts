// Writing, in version 3: entries and tensors in the model's order, every tensor filled up to the alignment, also the last. A file of
// gguf-py comes out as it went in.
import { alignUp, isPowerOfTwo } from '../../bytes/index.js'
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import {
  type FileLayout,
  type Layout,
  type Metadata,
  type MetaValue,
  type Model,
  madeSlot,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { ByteWriter, putEntry, putTensor, tensorEntrySize } from './encode.js'
import { nameOfShard, parseShardName, placeOf, splitKeys, withoutSplitKeys } from './split.js'
import {
  alignmentKey,
  alignmentOf,
  counts,
  defaultAlignment,
  filler,
  magic,
  maxAlignment,
  preamble,
  quantizationVersionKey,
  slackKey,
  slackOf,
  slackOption,
} from './structs.js'

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
  const isLaterShard = (placeOf(metadata)?.no ?? 0) > 0
  if (isQuantized && !isLaterShard && !metadata.has(quantizationVersionKey)) {
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
      yield { kind: 'payload', path: `data[${JSON.stringify(tensor)}]`, payload: data! }
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
