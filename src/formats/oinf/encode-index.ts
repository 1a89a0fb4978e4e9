// The header and the tables of size variables and metadata, as bytes. Those of the tensors follow them.

import { type StoredValue, writeString } from './metadata/values.js'
import { aligned, fileHeader, headerEnd, magic, metadataFields, sizevarFields, stringSize } from './structs.js'

export interface SizevarEntry {
  /** As stored: legal characters only. */
  readonly name: string
  readonly value: bigint
}

export interface MetadataEntry {
  readonly name: string
  readonly value: StoredValue
}

/** Sorted by name. */
export interface Tables {
  readonly sizevars: readonly SizevarEntry[]
  readonly metadata: readonly MetadataEntry[]
}

export interface Sections {
  readonly sizevars: number
  readonly metadata: number
  readonly tensors: number
  readonly data: number
}

/** `tensorBytes`: what the table of the tensors takes. */
export function placeSections({ sizevars, metadata }: Tables, tensorBytes: number): Sections {
  const total = (entries: readonly { readonly name: string }[], size: number): number =>
    entries.reduce((sum, entry) => sum + stringSize(entry.name.length) + size, 0)
  const metadataAt = headerEnd + total(sizevars, sizevarFields.size)
  const tensorsAt = metadataAt + total(metadata, metadataFields.size)
  return { sizevars: headerEnd, metadata: metadataAt, tensors: tensorsAt, data: aligned(tensorsAt + tensorBytes) }
}

interface Rest {
  readonly tensorCount: number
  /** Where the metadata values begin. */
  readonly values: readonly number[]
  /** Where the file ends. */
  readonly end: number
}

export function writeIndex(version: 1 | 2, tables: Tables, sections: Sections, rest: Rest): Uint8Array {
  const bytes = new Uint8Array(sections.tensors)
  const view = new DataView(bytes.buffer)
  fileHeader.writeInto(view, 0, {
    magic,
    version,
    flags: 0,
    nSizevars: tables.sizevars.length,
    nMetadata: tables.metadata.length,
    nTensors: rest.tensorCount,
    reserved: 0,
    offsetSizevars: BigInt(sections.sizevars),
    offsetMetadata: BigInt(sections.metadata),
    offsetTensors: BigInt(sections.tensors),
    offsetData: BigInt(sections.data),
    fileSize: BigInt(rest.end),
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
        valueOffset: BigInt(rest.values[i]!),
      }),
    )
  }
  return bytes
}
