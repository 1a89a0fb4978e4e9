// From entries of the index to tensors: which bytes of the file each one is, whether they are there, and whether they are as many as
// type and shape need.
import { type ByteSource, checkedAdd, inOrder, isSameRange, overlaps } from '../../../bytes/index.js'
import { type DType, packed } from '../../../dtypes/index.js'
import type { Code, Report } from '../../../errors/index.js'
import { setExtraOwner } from '../../../model/extra-owner.js'
import { type Metadata, type ReadContext, rangePayload, type Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { type Chunk, type ChunkContent, describeChunk } from '../control/chunk.js'
import { type Control, shardsOf } from '../control/control.js'
import { type Descriptors, dtypeOfNumber, ggmlTypeIn, packedNumber } from '../dtypes.js'
import { isObject, type JsonObject, type TensorEntry } from '../file.js'
import { shardName } from '../structs.js'
import { type IndexEntry, parseIndex } from './tidx.js'

export interface PlacedTensors {
  readonly entries: readonly TensorEntry[]
  /** Keys of the index beside `tensors`. */
  readonly extra?: JsonObject | undefined
}

/** What the metadata chunks say about the tensors. */
export interface Described {
  readonly metadata: Metadata
  readonly descriptors: Descriptors
}

export function placeTensors(
  content: ChunkContent,
  control: Control,
  described: Described,
  source: ByteSource,
  context: ReadContext,
): PlacedTensors {
  const placer = new Placer(control, described, source, context)
  const visit = (entry: IndexEntry, report: Report): void => placer.place(entry, report)
  const extra = parseIndex(content, context.report, visit)
  return { entries: placer.entries, extra }
}

class Placer {
  readonly entries: TensorEntry[] = []
  readonly #names = new Set<string>()
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #shards: ReadonlyMap<string, Chunk>
  readonly #descriptors: Descriptors
  readonly #isFromGguf: boolean
  #hasNotedDims = false
  /** The shard that was looked for last: neighbours are in the same. */
  #shard: { readonly id: number; readonly chunk: Chunk | undefined } | undefined

  constructor(control: Control, { metadata, descriptors }: Described, source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
    this.#shards = shardsOf(control)
    this.#descriptors = descriptors
    const origin = metadata.get('source_format')
    this.#isFromGguf = origin?.type === 'str' && origin.value === 'gguf'
  }

  /** `report` takes offsets in the content of the index. */
  place(entry: IndexEntry, report: Report): void {
    const { name, shardId, dataOff, dataLen } = entry
    const count = this.#names.size
    if (this.#names.add(name).size === count) {
      complain(report, entry, codes['tidx-duplicate'], 'name', `there is a tensor ${JSON.stringify(name)} already`)
      return
    }
    const shard = this.#shardOf(shardId)
    // The global index of a set has no weights of its own: its tensors are declared without data.
    if (!shard && this.#shards.size > 0) {
      const message = `${JSON.stringify(name)} is in ${shardName(shardId)}, which the file does not have`
      complain(report, entry, codes['tidx-shard-missing'], 'shard_id', message)
      this.#tellLost(entry, message)
      return
    }
    const end = typeof dataOff === 'number' && typeof dataLen === 'number' ? checkedAdd(dataOff, dataLen) : undefined
    if (shard && (end === undefined || end > shard.length)) {
      const message = `${JSON.stringify(name)} has ${dataLen} bytes from ${dataOff} on, ${describeChunk(shard)} has ${shard.length}`
      complain(report, entry, codes['tidx-bounds'], 'data_off', message)
      this.#tellLost(entry, message)
      return
    }
    this.entries.push(this.#placedEntry(entry, shard, report))
  }

  #tellLost({ name, dataLen }: IndexEntry, reason: string): void {
    const length = typeof dataLen === 'number' ? dataLen : undefined
    this.#context.onLost?.({ subject: 'tensor', name, length, reason })
  }

  #shardOf(id: number): Chunk | undefined {
    if (this.#shard?.id !== id) this.#shard = { id, chunk: this.#shards.get(shardName(id)) }
    return this.#shard.chunk
  }

  #placedEntry(entry: IndexEntry, shard: Chunk | undefined, report: Report): TensorEntry {
    const { name, shape, index, shardId, hash } = entry
    const { dtype, encoding, extra, byteLength } = this.#describe(entry, report)
    const start = Number(entry.dataOff) + (shard?.offset ?? 0)
    const end = start + Number(entry.dataLen)
    const data = shard ? rangePayload(this.#source, start, byteLength) : null
    const plain: Tensor = { name, dtype, shape, order: 'row', role: 'weight', data }
    const tensor = encoding || extra ? { ...plain, ...(encoding && { encoding }), ...(extra && { extra }) } : plain
    return { start, end, tensor, index, shardId, shard, hash }
  }

  /** What the bytes of a tensor are, and how many of the stored ones. */
  #describe(entry: IndexEntry, report: Report) {
    const { shape } = entry
    const known = dtypeOfNumber(entry.dtype)
    const isPacked = entry.dtype === packedNumber
    if (!known) {
      complain(report, entry, codes['tensor-unknown-dtype'], 'dtype', `${entry.dtype} is not an element type of AERO`)
    }
    let extra = isPacked ? this.#withParams(entry.extra) : entry.extra
    const type = isPacked ? ggmlTypeIn(extra)?.dtype : known
    if (isPacked && type && this.#isFromGguf) this.#noteDims(entry)

    let dtype = known ?? packed
    const stored = Number(entry.dataLen)
    const needed = type && neededBytes(type, shape)
    const isPadded = needed !== undefined && stored > needed && (dtype === packed || this.#isFromGguf)
    const isWhole = needed === stored || isPadded
    if (isPadded) {
      const message = `${stored} bytes are stored, [${shape.join(', ')}] of ${type!.id} takes ${needed}; the rest is padding`
      complain(report, entry, codes['tensor-data-len-padded'], 'data_len', message)
    } else if (type && !isWhole) {
      const wanted = needed === undefined ? 'which does not go with that type' : `which takes ${needed}`
      const message = `${stored} bytes, but the shape is [${shape.join(', ')}] of ${type.id}, ${wanted}; they are kept as bytes of unknown meaning`
      complain(report, entry, codes['tensor-shape-vs-len'], 'data_len', message)
      dtype = packed
    }
    // Bytes that cannot be elements of their type keep its number beside them.
    if (dtype === packed && !isPacked) extra = Object.assign(extra ?? Object.create(null), { dtype: entry.dtype })
    if (extra) setExtraOwner(extra, 'aero')
    const encoding = dtype === packed && isWhole ? type : undefined
    return { dtype, encoding, extra, byteLength: isPadded ? needed : stored }
  }

  /** A tensor that only points at its descriptor gets the type from there. */
  #withParams(extra: IndexEntry['extra']): IndexEntry['extra'] {
    const { quant_id: id, quant_params: params } = extra ?? {}
    const type = typeof id === 'number' ? this.#descriptors.get(id) : undefined
    if (!type || (isObject(params) && params.ggml_type !== undefined)) return extra
    return Object.assign(Object.create(null), extra, {
      quant_params: { ...(isObject(params) && params), ggml_type: type.number },
    })
  }

  /** Once for a file is enough. */
  #noteDims(entry: IndexEntry): void {
    if (this.#hasNotedDims || entry.shape.length < 2) return
    this.#hasNotedDims = true
    const message = 'dimensions are in the order of GGUF, fastest first; they are shown as the file has them'
    const place = { offset: 0, path: `tensors[${entry.index}].shape` }
    this.#context.report.report(codes['tensor-gguf-dims'], { ...place, message })
  }
}

function complain(report: Report, { at, index }: IndexEntry, code: Code, field: string, message: string): void {
  report.report(code, { offset: at, path: `tensors[${index}].${field}`, message })
}

/** Bytes that the elements take. The reference keeps GGUF's order of dimensions, so blocks may run along the first one. */
export function neededBytes(dtype: DType, shape: readonly number[]): number | undefined {
  if (shape.includes(0)) return 0
  const plain = dtype.byteLength(shape)
  return plain ?? (dtype.kind === 'block' ? dtype.byteLength(shape.toReversed()) : undefined)
}

/** How many of the stored bytes of an entry are the tensor's data; the rest is padding. */
export function dataLengthOf({ tensor, start, end }: TensorEntry): number {
  const type = tensor.dtype === packed ? tensor.encoding : tensor.dtype
  return (type && neededBytes(type, tensor.shape)) ?? end - start
}

/**
 * Reports tensors that share bytes. That is allowed, and how tied weights are stored, but it should be known. Where both have the hash of
 * these bytes in the index, the writer meant it so. Of many tensors that are the same bytes, two are named.
 */
export function reportShared(entries: readonly TensorEntry[], { report }: ReadContext): void {
  let last: TensorEntry | undefined
  let told: Code | undefined
  for (const [before, entry] of overlaps(inOrder(entries, 'shortest'))) {
    if (before !== last) told = undefined
    last = before
    const isTied = isSameRange(before, entry)
    const code = codes[isTied && entry.hash && entry.hash === before.hash ? 'tensor-tied' : 'tensor-overlap']
    if (isTied && code === told) continue
    if (isTied) told = code
    report.report(code, {
      offset: entry.start,
      length: Math.min(before.end, entry.end) - entry.start,
      path: `tensors[${entry.index}].data_off`,
      message: `${JSON.stringify(entry.tensor.name)} and ${JSON.stringify(before.tensor.name)} share bytes`,
    })
  }
}
