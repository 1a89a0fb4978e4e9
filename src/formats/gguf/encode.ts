// Metadata values and tensor entries as bytes, always in the form of version 3, little-endian.
import { encodeUtf8, utf8Length } from '../../bytes/index.js'
import { type GgmlType, ggmlTypeOf } from '../../dtypes/ggml/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import type { MetaList, MetaValue, Tensor } from '../../model/index.js'
import { StoredList } from './metadata.js'
import type { Encoding } from './structs.js'
import { type ValueType, valueTypeOf, writeScalar } from './value-types.js'

/** Bytes that grow as they are written. */
export class ByteWriter {
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

export function putEntry(writer: ByteWriter, key: string, value: MetaValue): void {
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

export function requireGgmlType(tensor: Tensor): GgmlType {
  const type = ggmlTypeOf(tensor.dtype)
  if (type && tensor.data) return type
  const message = type ? 'a tensor without data has no place in GGUF' : `ggml has no type for ${tensor.dtype.id}`
  return failWith(writeCodes['dtype-unsupported'], {
    file: '',
    path: `tensors[${JSON.stringify(tensor.name)}]`,
    message,
  })
}

export function putTensor(writer: ByteWriter, tensor: Tensor, offset: number): void {
  writer.string(encodeUtf8(tensor.name))
  writer.u32(tensor.shape.length)
  for (const dim of tensor.shape.toReversed()) writer.u64(dim)
  writer.u32(requireGgmlType(tensor).number)
  writer.u64(offset)
}

/** How many bytes `putTensor` writes. */
export function tensorEntrySize(tensor: Tensor): number {
  requireGgmlType(tensor)
  return 8 + utf8Length(tensor.name) + 4 + 8 * tensor.shape.length + 4 + 8
}
