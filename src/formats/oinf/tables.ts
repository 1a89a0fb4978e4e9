// The three tables: size variables, metadata, tensors.
import type { ReadContext } from '../../model/index.js'
import type { Header, TableName } from './header.js'
import { RecordReader } from './record-reader.js'
import type { MetadataRecord, TensorRecord } from './records.js'

export interface Tables {
  readonly sizevars: Map<string, bigint>
  readonly metadata: MetadataRecord[]
  readonly tensors: TensorRecord[]
  /** Where each table ends; absent for one that could not be read to its end. */
  readonly ends: Map<TableName, number>
  /** How many records were left out. */
  readonly refused: number
}

/** `bytes` is the file up to the data section. */
export function readTables(bytes: Uint8Array, header: Header, context: ReadContext): Tables {
  const sizevars = new Map<string, bigint>()
  const metadata: MetadataRecord[] = []
  const tensors: TensorRecord[] = []
  const ends = new Map<TableName, number>()
  let refused = 0
  const read = (table: TableName, readRecord: (reader: RecordReader, name: string, index: number) => boolean): void => {
    const reader = new RecordReader(bytes, table, header, context)
    refused += reader.readAll(readRecord)
    if (reader.complete) ends.set(table, reader.cursor.offset)
  }
  read('sizevars', (reader, name) => {
    const value = reader.sizevar()
    if (value !== undefined) sizevars.set(name, value)
    return value !== undefined
  })
  read('metadata', (reader, key, index) => {
    const record = reader.metadata(key, index)
    if (record) metadata.push(record)
    return record !== undefined
  })
  read('tensors', (reader, name, index) => {
    const record = reader.tensor(name, index)
    if (record) tensors.push(record)
    return record !== undefined
  })
  return { sizevars, metadata, tensors, ends, refused }
}
