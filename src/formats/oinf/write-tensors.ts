// The table of tensors, as bytes that are made when they are written: with a million tensors it takes a good part of the memory otherwise.
import { failWith, writeCodes } from '../../errors/index.js'
import { exactDims } from '../../model/dims.js'
import { type BytesSlot, madeSlot, type Tensor } from '../../model/index.js'
import { storedName } from './capabilities.js'
import { quantSizeOf } from './quant.js'
import { dataFields, hasData, hasQuant, quantFields, stringSize, tensorFields } from './structs.js'
import { tagByDType } from './types.js'

/** So many records are made together. */
const together = 4096

export interface Measured {
  /** Bytes that the records take, for each stretch of those that are made together. */
  readonly stretches: readonly number[]
  /** Of data, -1 where there are none. */
  readonly lengths: Float64Array
  /** Of quantization that is stored with its tensor. */
  readonly quantLengths: ReadonlyMap<number, number>
}

/** `tensors` are sorted by their stored names. */
export function measureTensors(tensors: readonly Tensor[], version: 1 | 2, file: string): Measured {
  const stretches: number[] = []
  const lengths = new Float64Array(tensors.length)
  const quantLengths = new Map<number, number>()
  let last: string | undefined
  for (const [i, tensor] of tensors.entries()) {
    const name = storedName(tensor)
    if (name === last) {
      const message = `there are two entries ${name}`
      failWith(writeCodes['duplicate-name'], { file, path: `tensors[${i}]`, message })
    }
    last = name
    if (i % together === 0) stretches.push(0)
    stretches[stretches.length - 1]! += recordSize(name, tensor, version)
    lengths[i] = tensor.data?.byteLength ?? -1
    if (tensor.quant && version === 2) quantLengths.set(i, quantSizeOf(tensor.quant))
  }
  return { stretches, lengths, quantLengths }
}

function recordSize(name: string, { shape }: Tensor, version: 1 | 2): number {
  const ranges = dataFields.size + (version === 2 ? quantFields.size : 0)
  return stringSize(name.length) + tensorFields.size + 8 * shape.length + ranges
}

/** Offsets, by the position in the table. */
export interface TensorPlaces {
  /** 0 for tensors without data. */
  readonly data: Float64Array
  /** Of tensors that have quantization. */
  readonly quant: ReadonlyMap<number, number>
}

export function* tensorSlots(
  tensors: readonly Tensor[],
  { stretches, quantLengths }: Measured,
  version: 1 | 2,
  places: TensorPlaces,
): Generator<BytesSlot, void, void> {
  for (const [k, length] of stretches.entries()) {
    const start = k * together
    const end = Math.min(start + together, tensors.length)
    yield madeSlot('index', length, () => {
      const records = new RecordWriter(length, version)
      for (let i = start; i < end; i++) {
        const quant = [quantLengths.get(i) ?? 0, places.quant.get(i) ?? 0] as const
        records.put(tensors.at(i)!, places.data[i]!, quantLengths.has(i), quant)
      }
      return records.bytes
    })
  }
}

class RecordWriter {
  readonly bytes: Uint8Array
  readonly #view: DataView
  readonly #version: 1 | 2
  #at = 0

  constructor(length: number, version: 1 | 2) {
    this.bytes = new Uint8Array(length)
    this.#view = new DataView(this.bytes.buffer)
    this.#version = version
  }

  put(tensor: Tensor, dataAt: number, isQuantized: boolean, quant: readonly [length: number, offset: number]): void {
    const { dtype, shape, data } = tensor
    const name = storedName(tensor)
    const next = this.#at + stringSize(name.length)
    this.#u32(name.length)
    for (let i = 0; i < name.length; i++) this.bytes[this.#at + i] = name.charCodeAt(i)
    this.#at = next
    this.#u32(tagByDType.get(dtype.id)!)
    this.#u32(shape.length)
    this.#u32((data ? hasData : 0) + (isQuantized ? hasQuant : 0))
    for (const dim of exactDims(tensor)) this.#u64(dim)
    this.#u64(data?.byteLength ?? 0)
    this.#u64(dataAt)
    if (this.#version === 1) return
    this.#u64(quant[0])
    this.#u64(quant[1])
  }

  #u32(value: number): void {
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  /** Of a safe integer as a number, of any other as what it is. */
  #u64(value: number | bigint): void {
    if (typeof value === 'bigint') {
      this.#view.setBigUint64(this.#at, value, true)
      this.#at += 8
      return
    }
    this.#u32(value % 2 ** 32)
    this.#u32(Math.floor(value / 2 ** 32))
  }
}
