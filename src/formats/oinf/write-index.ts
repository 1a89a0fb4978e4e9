// The header and the three tables, as bytes.
import type { Payload } from '../../model/index.js'
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
import { type StoredValue, writeString } from './values.js'

export interface SizevarEntry {
  /** As stored: legal characters only. */
  readonly name: string
  readonly value: bigint
}

export interface MetadataEntry {
  readonly name: string
  readonly value: StoredValue
}

export interface TensorEntry {
  readonly name: string
  readonly tag: number
  readonly shape: readonly number[]
  readonly payload: Payload | null
  readonly quant: Uint8Array | undefined
}

/** Sorted by name. */
export interface Tables {
  readonly sizevars: readonly SizevarEntry[]
  readonly metadata: readonly MetadataEntry[]
  readonly tensors: readonly TensorEntry[]
}

export interface Sections {
  readonly sizevars: number
  readonly metadata: number
  readonly tensors: number
  readonly data: number
}

/** Offsets, by the position in the table. */
export interface Places {
  readonly values: readonly number[]
  /** 0 for tensors without data. */
  readonly data: Float64Array
  /** Of tensors that have quantization. */
  readonly quant: ReadonlyMap<number, number>
  readonly end: number
}

export function placeSections(version: 1 | 2, { sizevars, metadata, tensors }: Tables): Sections {
  const total = <T extends { readonly name: string }>(entries: readonly T[], size: (entry: T) => number): number =>
    entries.reduce((sum, entry) => sum + stringSize(entry.name.length) + size(entry), 0)
  const fixed = tensorFields.size + dataFields.size + (version === 2 ? quantFields.size : 0)
  const metadataAt = headerEnd + total(sizevars, () => sizevarFields.size)
  const tensorsAt = metadataAt + total(metadata, () => metadataFields.size)
  const dataAt = aligned(tensorsAt + total(tensors, ({ shape }) => fixed + 8 * shape.length))
  return { sizevars: headerEnd, metadata: metadataAt, tensors: tensorsAt, data: dataAt }
}

export function writeIndex(version: 1 | 2, tables: Tables, sections: Sections, places: Places): Uint8Array {
  const bytes = new Uint8Array(sections.data)
  const view = new DataView(bytes.buffer)
  fileHeader.writeInto(view, 0, {
    magic,
    version,
    flags: 0,
    nSizevars: tables.sizevars.length,
    nMetadata: tables.metadata.length,
    nTensors: tables.tensors.length,
    reserved: 0,
    offsetSizevars: BigInt(sections.sizevars),
    offsetMetadata: BigInt(sections.metadata),
    offsetTensors: BigInt(sections.tensors),
    offsetData: BigInt(sections.data),
    fileSize: BigInt(places.end),
  })
  let at = sections.sizevars
  const put = (chunk: Uint8Array): void => {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  for (const { name, value } of tables.sizevars) {
    put(writeString(name))
    put(sizevarFields.write({ value }))
  }
  for (const [i, { name, value }] of tables.metadata.entries()) {
    put(writeString(name))
    put(
      metadataFields.write({
        valueType: value.type,
        valueFlags: 0,
        valueNbytes: BigInt(value.bytes.byteLength),
        valueOffset: BigInt(places.values[i]!),
      }),
    )
  }
  for (const [i, { name, tag, shape, payload, quant }] of tables.tensors.entries()) {
    const quantAt = places.quant.get(i)
    put(writeString(name))
    const flags = (payload ? hasData : 0) + (quantAt === undefined ? 0 : hasQuant)
    put(tensorFields.write({ dtype: tag, ndim: shape.length, flags }))
    for (const dim of shape) put(sizevarFields.write({ value: BigInt(dim) }))
    put(dataFields.write({ dataNbytes: BigInt(payload?.byteLength ?? 0), dataOffset: BigInt(places.data[i]!) }))
    if (version === 1) continue
    const quantSize = quantAt === undefined ? 0 : quant!.byteLength
    put(quantFields.write({ quantNbytes: BigInt(quantSize), quantOffset: BigInt(quantAt ?? 0) }))
  }
  return bytes
}
