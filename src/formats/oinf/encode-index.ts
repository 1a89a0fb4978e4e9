// The header and the three tables, as bytes.

import type { Tensor } from '../../model/index.js'
import { exactDims } from '../../model/model.js'
import { type StoredValue, writeString } from './metadata/values.js'
import { quantSizeOf } from './quant.js'
import {
  aligned,
  dataFields,
  fileHeader,
  hasData,
  hasQuant,
  headerEnd,
  magic,
  metadataFields,
  quantFields,
  sizevarFields,
  stringSize,
  tensorFields,
} from './structs.js'
import { tagByDType } from './types.js'

/** Names are as stored: legal characters only. */
export interface SizevarEntry {
  readonly name: string
  readonly value: bigint
}

export interface MetadataEntry {
  readonly name: string
  readonly value: StoredValue
}

export interface TensorEntry {
  readonly name: string
  readonly tensor: Tensor
}

/** Each sorted by name. */
export interface Tables {
  readonly version: 1 | 2
  readonly sizevars: readonly SizevarEntry[]
  readonly metadata: readonly MetadataEntry[]
  readonly tensors: readonly TensorEntry[]
}

/** Where the tables and the data section begin. */
export interface Sections {
  readonly sizevars: number
  readonly metadata: number
  readonly tensors: number
  readonly data: number
}

export function placeSections({ version, sizevars, metadata, tensors }: Tables): Sections {
  const total = (entries: readonly { readonly name: string }[], size: number): number =>
    entries.reduce((sum, { name }) => sum + stringSize(name.length) + size, 0)
  const metadataAt = headerEnd + total(sizevars, sizevarFields.size)
  const tensorsAt = metadataAt + total(metadata, metadataFields.size)
  const fixed = tensorFields.size + dataFields.size + (version === 2 ? quantFields.size : 0)
  const dims = tensors.reduce((sum, { tensor }) => sum + 8 * tensor.shape.length, 0)
  const data = aligned(tensorsAt + total(tensors, fixed) + dims)
  return { sizevars: headerEnd, metadata: metadataAt, tensors: tensorsAt, data }
}

/** Where the values are, by the positions of their entries. */
export interface Places {
  readonly metadata: readonly number[]
  /** 0 for tensors without data. */
  readonly data: readonly number[]
  /** 0 for tensors without quantization. */
  readonly quant: readonly number[]
  /** Where the file ends. */
  readonly end: number
}

/** Everything up to the end of the last table. */
export function encodeIndex(tables: Tables, sections: Sections, places: Places): Uint8Array {
  const { version, sizevars, metadata, tensors } = tables
  const bytes = new Uint8Array(sections.data)
  const view = new DataView(bytes.buffer)
  fileHeader.writeInto(view, 0, {
    magic,
    version,
    flags: 0,
    nSizevars: sizevars.length,
    nMetadata: metadata.length,
    nTensors: tensors.length,
    reserved: 0,
    offsetSizevars: BigInt(sections.sizevars),
    offsetMetadata: BigInt(sections.metadata),
    offsetTensors: BigInt(sections.tensors),
    offsetData: BigInt(sections.data),
    fileSize: BigInt(places.end),
  })
  let at = sections.sizevars
  const putString = (text: string): void => {
    writeString(text, view, at)
    at += stringSize(text.length)
  }
  for (const { name, value } of sizevars) {
    putString(name)
    sizevarFields.writeInto(view, at, { value })
    at += sizevarFields.size
  }
  for (const [i, { name, value }] of metadata.entries()) {
    putString(name)
    metadataFields.writeInto(view, at, {
      valueType: value.type,
      valueFlags: 0,
      valueNbytes: value.bytes.byteLength,
      valueOffset: places.metadata[i]!,
    })
    at += metadataFields.size
  }
  for (const [i, { name, tensor }] of tensors.entries()) {
    const { dtype, data } = tensor
    const quant = version === 2 ? tensor.quant : undefined
    const dims = exactDims(tensor)
    putString(name)
    tensorFields.writeInto(view, at, {
      dtype: tagByDType.get(dtype.id)!,
      ndim: dims.length,
      flags: (data ? hasData : 0) + (quant ? hasQuant : 0),
    })
    at += tensorFields.size
    for (const dim of dims) {
      view.setBigUint64(at, BigInt(dim), true)
      at += 8
    }
    dataFields.writeInto(view, at, { dataNbytes: data?.byteLength ?? 0, dataOffset: places.data[i]! })
    at += dataFields.size
    if (version === 1) continue
    quantFields.writeInto(view, at, { quantNbytes: quant ? quantSizeOf(quant) : 0, quantOffset: places.quant[i]! })
    at += quantFields.size
  }
  return bytes.subarray(0, at)
}
