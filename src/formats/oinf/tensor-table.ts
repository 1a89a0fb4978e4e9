// The tensors of a file as their records describe them. Most of them are nothing but a name, a type, a shape and a range, so they are
// packed at once; what only some have stands beside, by their positions.
import type { ByteSource } from '../../bytes/index.js'
import type { DType } from '../../dtypes/index.js'
import type { Tensor } from '../../model/index.js'
import { PackedTensors } from '../../model/packed-tensors.js'
import { RangePayload } from '../../model/range-payload.js'
import { looksEscaped } from './names.js'
import type { Range, TensorRecord } from './records.js'

export class TensorTable {
  /** With the names that the records have, and the data where the records say. */
  readonly tensors = new PackedTensors()
  /** Position of each tensor's record in the table of the file, for paths. */
  readonly indexes: Uint32Array
  /** Where the quantization of a tensor is. */
  readonly quants = new Map<number, Range>()
  /** The first tensor of each type. */
  readonly firsts = new Map<DType, number>()
  hasEscapes = false
  readonly #source: ByteSource

  /** `most` is what the table has room for. */
  constructor(source: ByteSource, most: number) {
    this.#source = source
    this.indexes = new Uint32Array(most)
  }

  /** The ranges are known to be inside the file. */
  add({ index, name, dtype, shape, exactShape, data, quant }: TensorRecord): void {
    const position = this.tensors.length
    this.indexes[position] = index
    if (quant) this.quants.set(position, quant)
    if (!this.firsts.has(dtype)) this.firsts.set(dtype, position)
    this.hasEscapes ||= looksEscaped(name)
    const payload = data ? new RangePayload(this.#source, data.offset, data.length) : null
    const tensor: Tensor = { name, dtype, shape, order: 'row', role: 'weight', data: payload }
    this.tensors.push(exactShape ? { ...tensor, exactShape } : tensor)
  }

  pathOf(position: number, field: string): string {
    return `tensors[${this.indexes[position]}].${field}`
  }
}
