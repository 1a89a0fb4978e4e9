// The tensors of a set whose parts are not open yet.
import { type ByteRange, checkRange } from '../../../bytes/index.js'
import type { Payload, ReadContext, Tensor } from '../../../model/index.js'

import { setCodes } from '../codes.js'
import { positionOf } from '../index/position-of.js'
import type { TensorTable } from '../index/tensor-table.js'
import type { SetParts } from './set-files.js'

/** Where the tensors of a set are looked for. */
export interface SetHome {
  /** The global index. */
  readonly table: TensorTable
  /** The number of the part that has a shard. */
  readonly partOf: ReadonlyMap<number, number>
  readonly parts: SetParts
  readonly context: ReadContext
}

/** A tensor of the global index whose part is opened when it is first read. */
export const unopened = (home: SetHome, position: number): Tensor => ({
  ...home.table.tensors[position]!,
  data: new PartPayload(home, position),
})

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
    return this.#home.table.tensors[this.#position]!.name
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
