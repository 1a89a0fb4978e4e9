// Tensors with data: weights and constants. Those that a graph computes have none, and are not listed.
import { elementsIn, maxSafe } from '../../bytes/index.js'
import { dtypeById, packed } from '../../dtypes/index.js'
import { bytesPayload, type QuantParams, type ReadContext, rangePayload, type Tensor } from '../../model/index.js'
import type { Flatbuffer, Table } from '../../wire/flatbuffers/flatbuffer.js'
import type { StoredBuffer } from './buffers.js'
import { ownCodes as codes } from './codes.js'

/** By the numbers of the schema; undefined for texts and for handles, which have no data. */
const types = [
  ...['f32', 'f16', 'i32', 'u8', 'i64', undefined, 'bool', 'i16', 'c64', 'i8', 'f64', 'c128'],
  ...['u64', undefined, undefined, 'u32', 'u16', 'i4', 'bf16', 'i2', 'u4'],
] as const
const textType = 5

export class TensorReader {
  readonly tensors: Tensor[] = []
  readonly #file: Flatbuffer
  readonly #buffers: readonly StoredBuffer[]
  readonly #context: ReadContext
  readonly #names = new Set<string>()

  constructor(file: Flatbuffer, buffers: readonly StoredBuffer[], context: ReadContext) {
    this.#file = file
    this.#buffers = buffers
    this.#context = context
  }

  /** Its name, whether it has data or not. `number` is that of its graph and its own. */
  async add(table: Table, number: string): Promise<string> {
    const { report, onLost } = this.#context
    const { offset, path } = table
    const name = (await table.text(3, 'name')) ?? ''
    const shape = await table.numbers(0, 4, 'shape', (view, at) => view.getInt32(at, true))
    const quantization = await table.table(4, 'quantization')
    const place = table.u32(2)
    const buffer = this.#buffers[place]
    if (!buffer && (place > 0 || this.#buffers.length > 0))
      report.report(codes.buffer, { offset, path, message: `buffer ${place} of ${this.#buffers.length}` })
    if (table.u32(10) > 0) report.report(codes.external, { offset, path, message: `${name} is in another file` })
    if (buffer?.missing) onLost?.({ subject: 'tensor', name, reason: buffer.missing })
    if (!buffer || buffer.length === 0) return name
    const tensor = await this.#tensor(table, name, shape, quantization, buffer)
    if (!tensor) return name
    const own = name === '' || this.#names.has(name) ? `${name}#${number}` : name
    if (own !== name)
      report.report(codes['same-name'], { offset, path, message: `it is called ${JSON.stringify(own)} here` })
    this.#names.add(own)
    this.tensors.push({ ...tensor, name: own })
    return name
  }

  async #tensor(
    table: Table,
    name: string,
    shape: readonly number[],
    quantization: Table | undefined,
    buffer: StoredBuffer,
  ): Promise<Tensor | undefined> {
    const { report } = this.#context
    const { offset, path } = table
    const type = table.u8(1)
    const id = types[type]
    if (id === undefined && type !== textType)
      return void report.report(codes.dtype, { offset, path, message: `there is no type ${type} with data` })
    if (await table.table(6, 'sparsity'))
      return void report.report(codes.sparse, { offset, path, message: `${JSON.stringify(name)} is sparse` })
    if (shape.some((dim) => dim < 0) || (elementsIn(shape) ?? maxSafe) > maxSafe / 16)
      return void report.report(codes.shape, { offset, path, message: `[${shape.join(', ')}]` })
    const dtype = (id && dtypeById(id)) ?? packed
    if (dtype === packed) report.report(codes.text, { offset, path, message: `${JSON.stringify(name)} holds texts` })
    const needed = dtype === packed ? buffer.length : packedLength(dtype.byteLength(shape), id, shape)
    if (needed !== buffer.length)
      return void report.report(codes.size, {
        ...{ offset: buffer.offset, length: buffer.length, path },
        message: `[${shape.join(', ')}] of ${dtype.id} takes ${needed} bytes, ${buffer.length} are there`,
      })
    this.#file.map(buffer.offset, buffer.length, `${buffer.path}.data`, 'data')
    const quant = quantization && (await this.#quant(quantization, shape))
    const data = needed === 0 ? bytesPayload(new Uint8Array()) : rangePayload(this.#file.source, buffer.offset, needed)
    return { name, dtype, shape, order: 'row', role: 'weight', data, ...(quant && { quant }) }
  }

  async #quant(table: Table, shape: readonly number[]): Promise<QuantParams | undefined> {
    const { report } = this.#context
    const { offset, path } = table
    const scales = await table.numbers(2, 4, 'scale', (view, at) => view.getFloat32(at, true))
    const zeroPoints = await table.numbers(3, 8, 'zero_point', (view, at) => Number(view.getBigInt64(at, true)))
    const axis = table.i32(6)
    if (table.u8(4) === 2)
      report.report(codes['blockwise-quantization'], { offset, path, message: 'its scales are in another tensor' })
    if (scales.length === 0) return undefined
    const isEach = scales.length > 1
    const isSound = (!isEach || shape[axis] === scales.length) && [0, 1, scales.length].includes(zeroPoints.length)
    if (!isSound) {
      const message = `${scales.length} scales and ${zeroPoints.length} zero points for axis ${axis} of [${shape.join(', ')}]`
      return void report.report(codes.quantization, { offset, path, message })
    }
    const isSymmetric = zeroPoints.every((each) => each === 0)
    const points = zeroPoints.length === scales.length ? zeroPoints : scales.map(() => zeroPoints[0] ?? 0)
    const each = { ...(isEach && { axis }), scales }
    return isSymmetric ? { scheme: 'symmetric', ...each } : { scheme: 'asymmetric', ...each, zeroPoints: points }
  }
}

/** Types of less than a byte follow each other without regard to rows; the last byte may be filled in part. */
function packedLength(
  length: number | undefined,
  id: string | undefined,
  shape: readonly number[],
): number | undefined {
  const perByte = id === 'i4' || id === 'u4' ? 2 : id === 'i2' ? 4 : 1
  return perByte === 1 ? length : Math.ceil((elementsIn(shape) ?? 0) / perByte)
}
