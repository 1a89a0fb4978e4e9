// Metadata values, from bytes and to bytes.
//   scalar   the bare bytes, without padding; packed types and F8 take one byte
//   string   u32 length, text, padding            } here the stated size
//   bitset   u32 bits, u32 bytes, bytes, padding  } includes the padding
//   ndarray  u32 element type, u32 rank, u64 dimensions, elements, padding
import { Cursor } from '../../../bytes/index.js'
import type { DType } from '../../../dtypes/index.js'
import { type Code, verifyCodes } from '../../../errors/index.js'
import type { MetaValue, ReadContext } from '../../../model/index.js'
import { exactDims, formatDims, shapeOfDims } from '../../../model/model.js'
import { codes, type OinfCode } from '../codes.js'
import { readText } from '../strings.js'
import { aligned, stringSize } from '../structs.js'
import type { MetadataRecord } from '../tables/records.js'
import { bitsetTag, dataSize, dtypeByTag, isPacked, ndarrayTag, stringTag, tagByDType, tailMask } from '../types.js'
import { readScalar, type ScalarValue, scalarSize, writeScalar } from './scalars.js'

/** The value, or undefined after what is wrong was reported. */
export function readValue(bytes: Uint8Array, record: MetadataRecord, context: ReadContext): MetaValue | undefined {
  const reader = new ValueReader(bytes, record, context)
  if (record.type === stringTag) return reader.string()
  if (record.type === bitsetTag) return reader.bitset()
  if (record.type === ndarrayTag) return reader.ndarray()
  return reader.scalar(dtypeByTag.get(record.type)!)
}

const fourthCode = 'the fourth code, which reads as -2'

/** The index of the first byte with an element that is none of the three ternary values, or -1. */
function findFourthCode(bytes: Uint8Array, unused: number): number {
  // Four codes at once: the upper bit is set and the lower one is not.
  const last = bytes.byteLength - 1
  return bytes.findIndex((byte, i) => ((byte >> 1) & ~byte & (i === last ? 255 - unused : 255) & 0x55) !== 0)
}

class ValueReader {
  readonly #bytes: Uint8Array
  readonly #cursor: Cursor
  readonly #offset: number
  readonly #context: ReadContext

  constructor(bytes: Uint8Array, record: MetadataRecord, context: ReadContext) {
    this.#bytes = bytes
    this.#offset = record.value.start
    this.#context = context
    const options = { base: this.#offset, extents: context.extents, path: ['metadata', record.index, 'value'] }
    this.#cursor = new Cursor(bytes, context.report, options)
  }

  #complain(code: OinfCode | Code, at: number, message: string, field = ''): undefined {
    this.#context.report.report(typeof code === 'string' ? codes[code] : code, {
      offset: this.#offset + at,
      path: this.#cursor.pathOf(field),
      message,
    })
  }

  /** Whether the stated size is exactly the wanted one. */
  #isSize(code: OinfCode, wanted: number): boolean {
    if (this.#bytes.byteLength === wanted) return true
    this.#complain(code, 0, `${this.#bytes.byteLength} bytes are stated, ${wanted} are needed`)
    return false
  }

  #has(code: OinfCode, wanted: number, what: string): boolean {
    if (this.#bytes.byteLength >= wanted) return true
    this.#complain(code, 0, `${this.#bytes.byteLength} bytes are stated, ${what} take ${wanted}`)
    return false
  }

  #padding(): void {
    const { offset, remaining: length } = this.#cursor
    if (length === 0) return
    const { report, extents } = this.#context
    const path = this.#cursor.pathOf('padding')
    const isClean = this.#cursor.take(length, 'padding').every((byte) => byte === 0)
    extents?.add({ file: report.file, offset, length, path, kind: 'padding' })
    if (!isClean) report.report(codes.padding, { offset, length, path, message: 'the padding is not 0' })
  }

  scalar(dtype: DType): MetaValue | undefined {
    if (!this.#isSize('scalar-size', scalarSize(dtype))) return undefined
    const value = readScalar(dtype, this.#bytes)
    this.#cursor.raw(this.#bytes.byteLength, '', () => value.value)
    const byte = this.#bytes[0]!
    if (isPacked(dtype) && (byte & tailMask(dtype, 1)) !== 0)
      this.#complain('scalar-bits', 0, `0x${byte.toString(16)} has more bits than ${dtype.id}`)
    if (dtype.id === 't2' && value.value === -2) this.#complain('tensor-t2', 0, fourthCode)
    if (dtype.kind === 'bool' && byte > 1) this.#complain(verifyCodes['bool-value'], 0, `${byte} is neither 0 nor 1`)
    return value
  }

  string(): MetaValue | undefined {
    if (!this.#has('string-size', 4, 'the length')) return undefined
    const length = this.#cursor.u32('length')
    if (!this.#isSize('string-size', stringSize(length))) return undefined
    const { offset } = this.#cursor
    const raw = this.#cursor.take(length, 'text')
    const { report, extents } = this.#context
    const value = readText(raw, offset, () => this.#cursor.pathOf('text'), report)
    const path = extents && this.#cursor.pathOf('text')
    if (path !== undefined) extents!.add({ file: report.file, offset, length, path, kind: 'field', value })
    this.#padding()
    return { type: 'str', value }
  }

  bitset(): MetaValue | undefined {
    if (!this.#has('bitset-size', 8, 'the counts')) return undefined
    const bits = this.#cursor.u32('bit_count')
    const byteCount = this.#cursor.u32('byte_count')
    const wanted = Math.ceil(bits / 8)
    if (byteCount !== wanted) {
      return this.#complain(
        'bitset-count',
        4,
        `${byteCount} bytes are stated, ${bits} bits take ${wanted}`,
        'byte_count',
      )
    }
    if (!this.#isSize('bitset-size', aligned(8 + byteCount))) return undefined
    const value = this.#cursor.raw(byteCount, 'bytes')
    if (bits % 8 !== 0 && value.at(-1)! >= 2 ** (bits % 8))
      this.#complain('bitset-tail', 8 + byteCount - 1, `bits beyond the ${bits} of the set are 1`, 'bytes')
    this.#padding()
    return { type: 'bitset', bits, value }
  }

  ndarray(): MetaValue | undefined {
    if (!this.#has('ndarray-size', 8, 'type and rank')) return undefined
    const tag = this.#cursor.u32('element_type')
    const ndim = this.#cursor.u32('ndim')
    const dtype = tag === bitsetTag ? undefined : dtypeByTag.get(tag)
    if (!dtype) return this.#complain('ndarray-type', 0, `an array cannot have elements of type ${tag}`, 'element_type')
    if (8 * ndim > this.#cursor.remaining) {
      const message = `${ndim} dimensions do not fit into ${this.#cursor.remaining} bytes`
      return this.#complain('ndarray-dims', 4, message, 'ndim')
    }
    const dims: (number | bigint)[] = []
    for (let i = 0; i < ndim; i++) {
      dims.push(this.#cursor.wide(`dims[${i}]`))
    }
    const shaped = shapeOfDims(dims)
    const size = dataSize(dtype, shaped.shape)
    if (size === undefined)
      return this.#complain('ndarray-overflow', 8, `${formatDims(shaped)} is more than any file can hold`, 'dims')
    if (!this.#isSize('ndarray-size', aligned(8 + 8 * ndim + size))) return undefined
    const value = this.#cursor.raw(size, 'elements')
    this.#elements(dtype, shaped.shape, value, 8 + 8 * ndim)
    this.#padding()
    return { type: 'ndarray', dtype, ...shaped, value }
  }

  #elements(dtype: DType, shape: readonly number[], value: Uint8Array, at: number): void {
    if (dtype.kind === 'bool') {
      const odd = value.findIndex((byte) => byte > 1)
      if (odd >= 0)
        this.#complain(
          verifyCodes['bool-value'],
          at + odd,
          `element ${odd} is ${value[odd]}, neither 0 nor 1`,
          'elements',
        )
    }
    const count = shape.reduce((product, dim) => product * dim, 1)
    const mask = tailMask(dtype, count)
    const odd = dtype.id === 't2' ? findFourthCode(value, mask) : -1
    if (odd >= 0) this.#complain('tensor-t2', at + odd, `byte ${odd} of the elements has ${fourthCode}`, 'elements')
    if (value.byteLength > 0 && (value.at(-1)! & mask) !== 0)
      this.#complain('tensor-tail', at + value.byteLength - 1, 'bits beyond the last element are 1', 'elements')
  }
}

/** A value as it is stored. */
export interface StoredValue {
  readonly type: number
  readonly bytes: Uint8Array
}

/** The stored form of a string, bitset, array or scalar; undefined when the value does not fit its own type. */
export function writeValue(value: MetaValue): StoredValue | undefined {
  switch (value.type) {
    case 'str': {
      const bytes = new Uint8Array(stringSize(value.value.length))
      writeString(value.value, new DataView(bytes.buffer), 0)
      return { type: stringTag, bytes }
    }
    case 'bitset': {
      const count = Math.ceil(value.bits / 8)
      if (value.value.byteLength !== count) return undefined
      const bytes = new Uint8Array(aligned(8 + count))
      const view = new DataView(bytes.buffer)
      view.setUint32(0, value.bits, true)
      view.setUint32(4, count, true)
      bytes.set(value.value, 8)
      return { type: bitsetTag, bytes }
    }
    case 'ndarray': {
      const { dtype, shape } = value
      const tag = tagByDType.get(dtype.id)
      if (tag === undefined || tag === bitsetTag || dataSize(dtype, shape) !== value.value.byteLength) return undefined
      const bytes = new Uint8Array(aligned(8 + 8 * shape.length + value.value.byteLength))
      const view = new DataView(bytes.buffer)
      view.setUint32(0, tag, true)
      view.setUint32(4, shape.length, true)
      for (const [i, dim] of exactDims(value).entries()) view.setBigUint64(8 + 8 * i, BigInt(dim), true)
      bytes.set(value.value, 8 + 8 * shape.length)
      return { type: ndarrayTag, bytes }
    }
    default: {
      const type = tagByDType.get(value.type)
      const bytes = type === undefined ? undefined : writeScalar(dtypeByTag.get(type)!, value as ScalarValue)
      return bytes && { type: type!, bytes }
    }
  }
}

/** Puts a string of ASCII characters at an offset. */
export function writeString(text: string, view: DataView, offset: number): void {
  view.setUint32(offset, text.length, true)
  for (let i = 0; i < text.length; i++) view.setUint8(offset + 4 + i, text.charCodeAt(i))
}
