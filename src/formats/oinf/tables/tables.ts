// The three tables: size variables, metadata, tensors.
import type { ByteSource } from '../../../bytes/index.js'
import type { ReadContext, Tensor } from '../../../model/index.js'
import type { Header, TableName } from '../header.js'
import { RecordReader } from './record-reader.js'
import type { MetadataRecord, ValueRange } from './records.js'

export interface Tables {
  readonly sizevars: ReadonlyMap<string, bigint>
  readonly metadata: readonly MetadataRecord[]
  /** With the names that the records have, and the data where the records say. */
  readonly tensors: readonly Tensor[]
  /** The position of each tensor's record in its table. */
  readonly indexes: readonly number[]
  /** Where the quantization of tensors is. */
  readonly quants: ReadonlyMap<Tensor, ValueRange>
  /** Where each table ends; absent for one that could not be read to its end. */
  readonly ends: ReadonlyMap<TableName, number>
  /** How many records were left out. */
  readonly refused: number
}

/** `index` are the bytes of the file up to the data section. */
export function readTables(source: ByteSource, index: Uint8Array, header: Header, context: ReadContext): Tables {
  const ends = new Map<TableName, number>()
  let refused = 0
  const read = (table: TableName, readRecord: (reader: RecordReader, name: string, i: number) => boolean) => {
    const reader = new RecordReader(source, index, table, header, context)
    reader.readAll((name, i) => readRecord(reader, name, i))
    refused += reader.refused
    if (reader.end !== undefined) ends.set(table, reader.end)
    return reader
  }
  const sizevars = new Map<string, bigint>()
  read('sizevars', (reader, name) => {
    const value = reader.sizevar()
    if (value !== undefined) sizevars.set(name, value)
    return value !== undefined
  })
  const metadata: MetadataRecord[] = []
  read('metadata', (reader, key, i) => {
    const record = reader.metadata(key, i)
    if (record) metadata.push(record)
    return record !== undefined
  })
  const tensors: Tensor[] = []
  const indexes: number[] = []
  const { quants } = read('tensors', (reader, name, i) => {
    const tensor = reader.tensor(name, i)
    if (!tensor) return false
    tensors.push(tensor)
    indexes.push(i)
    return true
  })
  return { sizevars, metadata, tensors, indexes, quants, ends, refused }
}
