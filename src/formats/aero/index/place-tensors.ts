// From entries of the index to tensors: which bytes of the file each one is, whether they are there, and whether they are as many as
// type and shape want.
import { type ByteSource, checkedAdd } from '../../../bytes/index.js'
import { NameSet } from '../../../bytes/name-set.js'
import { type DType, packed } from '../../../dtypes/index.js'
import type { Code, Report } from '../../../errors/index.js'
import { type Metadata, type ReadContext, rangePayload, type Tensor } from '../../../model/index.js'
import { codes } from '../codes.js'
import { type Chunk, describeChunk, sameBytes } from '../control/chunk.js'
import type { Control } from '../control/control.js'
import { dtypeOfNumber, ggmlTypeIn, neededBytes, packedNumber } from '../dtypes.js'
import { shardsOf } from '../file.js'
import type { Descriptors } from '../quant-descriptors.js'
import { shardName } from '../structs.js'
import type { ContentWindow } from './content-window.js'
import type { IndexEntry } from './index-entry.js'
import { isObject, type JsonObject } from './manifest.js'
import { markOwnFields } from './own-fields.js'
import { TensorTable } from './tensor-table.js'
import { type IndexVisitor, parseIndex } from './tidx.js'

export interface PlacedTensors {
  readonly table: TensorTable
  readonly extra: JsonObject | undefined
}

/** What the metadata chunks say about the tensors. */
export interface Described {
  readonly metadata: Metadata
  readonly descriptors: Descriptors
}

export async function placeTensors(
  window: ContentWindow | undefined,
  control: Control,
  { metadata, descriptors }: Described,
  source: ByteSource,
  context: ReadContext,
): Promise<PlacedTensors> {
  if (!window) return { table: new TensorTable(0), extra: undefined }
  const placer = new Placer(control, metadata, descriptors, source, context)
  try {
    const { extra } = await parseIndex(window, context.report, placer, context.signal)
    return { table: placer.table, extra }
  } finally {
    window.close()
  }
}

class Placer implements IndexVisitor {
  table = new TensorTable(0)
  readonly #source: ByteSource
  readonly #shards: Map<string, Chunk>
  readonly #byId = new Map<number, Chunk | undefined>()
  #lastId: number | undefined
  #lastShard: Chunk | undefined
  #names = this.#namesFor(0)
  readonly #isFromGguf: boolean
  readonly #descriptors: Descriptors
  readonly #outer: Report
  readonly #onLost: ReadContext['onLost']
  #saidDims = false
  #last: { type?: DType; shape?: readonly number[]; needed?: number | undefined } = {}
  /** Takes places in the content of the index. */
  #report: Report

  constructor(
    control: Control,
    metadata: Metadata,
    descriptors: Descriptors,
    source: ByteSource,
    { report, onLost }: ReadContext,
  ) {
    this.#onLost = onLost
    this.#descriptors = descriptors
    this.#source = source
    this.#shards = shardsOf(control)
    this.#outer = report
    this.#report = report
    const origin = metadata.get('source_format')
    this.#isFromGguf = origin?.type === 'str' && origin.value === 'gguf'
  }

  begin(most: number): void {
    this.table = new TensorTable(most)
    this.#names = this.#namesFor(most)
  }

  #namesFor(most: number): NameSet {
    return new NameSet((position) => this.table.tensors.nameAt(position), most)
  }

  visit(entry: IndexEntry, report: Report): void {
    this.#report = report
    const { name } = entry
    if (this.#names.add(name, this.table.count, entry.nameHash) !== undefined) {
      this.#complain(entry, codes['tidx-duplicate'], 'name', `there is a tensor ${JSON.stringify(name)} already`)
      return
    }
    // The global index of a set has no weights of its own: its tensors are declared without data.
    if (this.#shards.size === 0) {
      this.#add(entry, undefined)
      return
    }
    const shard = this.#shardOf(entry.shardId)
    if (!shard) {
      const message = `${JSON.stringify(name)} is in ${shardName(entry.shardId)}, which the file does not have`
      this.#complain(entry, codes['tidx-shard-missing'], 'shard_id', message)
      this.#sayLost(entry, message)
      return
    }
    const { dataOff, dataLen } = entry
    const end = typeof dataOff === 'number' && typeof dataLen === 'number' ? checkedAdd(dataOff, dataLen) : undefined
    if (end === undefined || end > shard.length) {
      const message = `${JSON.stringify(name)} has ${dataLen} bytes from ${dataOff} on, ${describeChunk(shard)} has ${shard.length}`
      this.#complain(entry, codes['tidx-bounds'], 'data_off', message)
      this.#sayLost(entry, message)
      return
    }
    this.#add(entry, shard)
  }

  #sayLost({ name, dataLen }: IndexEntry, reason: string): void {
    this.#names.keepLast(name)
    this.#onLost?.({ subject: 'tensor', name, length: typeof dataLen === 'number' ? dataLen : undefined, reason })
  }

  #complain(entry: IndexEntry, code: Code, field: string, message: string): void {
    this.#report.report(code, { offset: entry.at, path: `tensors[${entry.index}].${field}`, message })
  }

  /** Neighbours mostly lie in the same shard. */
  #shardOf(id: number): Chunk | undefined {
    if (id === this.#lastId) return this.#lastShard
    if (!this.#byId.has(id)) this.#byId.set(id, this.#shards.get(shardName(id)))
    this.#lastId = id
    this.#lastShard = this.#byId.get(id)
    return this.#lastShard
  }

  #add(entry: IndexEntry, shard: Chunk | undefined): void {
    const { name, shape } = entry
    const known = dtypeOfNumber(entry.dtype)
    let dtype = known ?? packed
    let { extra } = entry
    if (!known) {
      this.#complain(entry, codes['tensor-unknown-dtype'], 'dtype', `${entry.dtype} is no element type of AERO`)
    }
    const isPacked = entry.dtype === packedNumber
    if (isPacked) extra = this.#withParams(extra)
    const type = isPacked ? ggmlTypeIn(extra)?.dtype : known
    if (isPacked && type && this.#isFromGguf) this.#noteDims(entry)
    const length = Number(entry.dataLen)
    const needed = type && this.#neededBytes(type, shape)
    let dataLength = length
    let isWhole = needed === length
    if (needed !== undefined && length > needed && (dtype === packed || this.#isFromGguf)) {
      const message = `${length} bytes are stored, [${shape.join(', ')}] of ${type!.id} takes ${needed}; the rest is padding`
      this.#complain(entry, codes['tensor-data-len-padded'], 'data_len', message)
      dataLength = needed
      isWhole = true
    } else if (type && !isWhole) {
      const wanted = needed === undefined ? 'which does not go with that type' : `which takes ${needed}`
      this.#complain(
        entry,
        codes['tensor-shape-vs-len'],
        'data_len',
        `${length} bytes, but the shape is [${shape.join(', ')}] of ${type.id}, ${wanted}; they are kept as bytes of unknown meaning`,
      )
      dtype = packed
    }
    // Bytes that cannot be elements of the type keep its number beside them.
    if (dtype === packed && !isPacked) extra = Object.assign(extra ?? Object.create(null), { dtype: entry.dtype })
    if (extra) markOwnFields(extra)
    const data = shard ? rangePayload(this.#source, shard.offset + Number(entry.dataOff), dataLength) : null
    const plain: Tensor = { name, dtype, shape, order: 'row', role: 'weight', data }
    const encoding = dtype === packed && isWhole ? type : undefined
    const tensor = encoding || extra ? { ...plain, ...(encoding && { encoding }), ...(extra && { extra }) } : plain
    this.table.add(tensor, entry, dataLength, shard)
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

  /** Neighbours are often alike, and then share their shape. */
  #neededBytes(type: DType, shape: readonly number[]): number | undefined {
    if (type !== this.#last.type || shape !== this.#last.shape) {
      this.#last = { type, shape, needed: neededBytes(type, shape) }
    }
    return this.#last.needed
  }

  #noteDims(entry: IndexEntry): void {
    if (this.#saidDims || entry.shape.length < 2) return
    this.#saidDims = true
    const message = 'dimensions are in the order of GGUF, fastest first; they are shown as the file has them'
    this.#outer.report(codes['tensor-gguf-dims'], { offset: 0, path: `tensors[${entry.index}].shape`, message })
  }
}

/**
 * Tensors that share bytes. That is allowed, and how tied weights are stored, but it should be known. Where each of them has the hash of
 * these bytes in the index, the writer meant it so. Of tensors that are the same bytes, two are named; there can be thousands.
 */
export function checkTensors(table: TensorTable, { report }: ReadContext): void {
  let reached = -1
  let owner = -1
  let told: Code | undefined
  for (const i of table.inFileOrder()) {
    const start = table.startOf(i)
    const end = table.endOf(i)
    if (start === end) continue
    if (start < reached) {
      const isTied = start === table.startOf(owner) && end === reached
      const code = codes[isTied && haveSameHash(table, i, owner) ? 'tensor-tied' : 'tensor-overlap']
      if (!isTied || code !== told) {
        const names = `${JSON.stringify(table.tensors.nameAt(i))} and ${JSON.stringify(table.tensors.nameAt(owner))}`
        report.report(code, {
          offset: start,
          length: Math.min(reached, end) - start,
          path: `tensors[${table.entryOf(i)}].data_off`,
          message: `${names} share bytes`,
        })
      }
      if (isTied) told = code
    }
    if (end > reached) {
      reached = end
      owner = i
      told = undefined
    }
  }
}

function haveSameHash(table: TensorTable, a: number, b: number): boolean {
  const [first, second] = [table.hashOf(a), table.hashOf(b)]
  return first !== undefined && second !== undefined && sameBytes(first, second)
}
