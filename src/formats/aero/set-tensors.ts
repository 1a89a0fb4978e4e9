// The tensors of a set, by what its indexes say about them: made when they are asked for, since there can be a million.
import { type ByteRange, checkRange, LazyList } from '../../bytes/index.js'
import type { Payload, ReadContext, Tensor } from '../../model/index.js'

import { setCodes } from './codes.js'
import { positionOf } from './position-of.js'
import type { OpenPart, SetParts } from './set-files.js'
import type { TensorTable } from './tensor-table.js'

/** Where the tensors of a set are looked for. */
export interface SetHome {
  /** The global index. */
  readonly table: TensorTable
  /** The number of the part that has a shard. */
  readonly partOf: ReadonlyMap<number, number>
  readonly parts: SetParts
  readonly context: ReadContext
}

/** Stands for a tensor that its part does not have. */
const nowhere = 0xffff_ffff

export class SetTensors extends LazyList<Tensor> {
  readonly #home: SetHome
  readonly #opened: readonly (OpenPart | undefined)[] | undefined
  /** By tensor: the position in the global index and, where the parts were opened, in the part. */
  readonly #positions: Uint32Array
  readonly #places: Uint32Array
  /** Kept, since each of them finds its place once. */
  readonly #payloads: (PartPayload | undefined)[]
  #length = 0

  constructor(home: SetHome, opened: readonly (OpenPart | undefined)[] | undefined) {
    super()
    this.#home = home
    this.#opened = opened
    this.#positions = new Uint32Array(home.table.count)
    this.#places = new Uint32Array(opened ? home.table.count : 0)
    this.#payloads = new Array(opened ? 0 : home.table.count)
  }

  get length(): number {
    return this.#length
  }

  /** The next tensor is that of the global index at `position`; `place` is where its part has it. */
  add(position: number, place = nowhere): void {
    this.#positions[this.#length] = position
    if (this.#opened) this.#places[this.#length] = place
    this.#length++
  }

  protected make(index: number): Tensor {
    const { table, partOf } = this.#home
    const position = this.#positions[index]!
    if (!this.#opened) return { ...table.tensors.at(position)!, data: this.#payloadAt(position) }
    const place = this.#places[index]!
    if (place === nowhere) return table.tensors.at(position)!
    return this.#opened[partOf.get(table.shardIdOf(position))!]!.model.tensors.at(place)!
  }

  /** The name alone. */
  nameAt(index: number): string {
    return this.#home.table.tensors.nameAt(this.#positions[index]!)
  }

  #payloadAt(position: number): PartPayload {
    const payload = this.#payloads[position] ?? new PartPayload(this.#home, position)
    this.#payloads[position] = payload
    return payload
  }
}

/** The bytes of a tensor in a part that is opened on the first read. */
class PartPayload implements Payload {
  readonly #home: SetHome
  readonly #position: number
  #resolved: Payload | undefined

  constructor(home: SetHome, position: number) {
    this.#home = home
    this.#position = position
  }

  get byteLength(): number {
    return this.#home.table.dataLengthOf(this.#position)
  }

  get origin(): ByteRange | undefined {
    return this.#resolved?.origin
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    checkRange({ name: this.#name, size: this.byteLength }, offset, length)
    if (length === 0) return new Uint8Array(0)
    return (await this.#resolve()).read!(offset, length, signal)
  }

  async *chunks(window: number, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
    if (this.byteLength > 0) yield* (await this.#resolve()).chunks(window, signal)
  }

  get #name(): string {
    return this.#home.table.tensors.nameAt(this.#position)
  }

  /** The payload in the part, which opens it. */
  async #resolve(): Promise<Payload> {
    if (this.#resolved) return this.#resolved
    const { table, partOf, parts, context } = this.#home
    const number = partOf.get(table.shardIdOf(this.#position))!
    const { tensors } = (await parts.open(number)).model
    const place = positionOf(tensors, this.#name)
    const own = place === undefined ? undefined : tensors.at(place)
    if (!own?.data || own.data.byteLength !== this.byteLength) {
      const message = `part ${number} of the set does not hold ${JSON.stringify(this.#name)} with ${this.byteLength} bytes`
      const at = { file: context.report.file, offset: 0, path: this.#name }
      return context.report.fail(setCodes['tensor-not-in-part'], { ...at, message })
    }
    this.#resolved = own.data
    return own.data
  }
}
