// The three tables: size variables, metadata, tensors.
import type { ByteSource } from '../../../bytes/index.js'
import type { DType } from '../../../dtypes/index.js'
import type { ReadContext } from '../../../model/index.js'
import type { Header, TableName } from '../header.js'
import { RecordReader } from './record-reader.js'
import type { MetadataRecord, StoredTensor, ValueRange } from './records.js'

export interface Tables {
  readonly sizevars: ReadonlyMap<string, bigint>
  readonly metadata: readonly MetadataRecord[]
  /** With the names that the records have, and the data where the records say. */
  readonly tensors: readonly StoredTensor[]
  /** The position of the first record of each element type. */
  readonly firsts: ReadonlyMap<DType, number>
  /** Where the quantization of tensors is. */
  readonly quants: ReadonlyMap<StoredTensor, ValueRange>
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
  const tensors: StoredTensor[] = []
  const firsts = new Map<DType, number>()
  const { quants } = read('tensors', (reader, name, i) => {
    const tensor = reader.tensor(name, i)
    if (!tensor) return false
    tensors.push(tensor)
    if (!firsts.has(tensor.dtype)) firsts.set(tensor.dtype, i)
    return true
  })
  return { sizevars, metadata, tensors, firsts, quants, ends, refused }
}

/** Everything that the records point at, in their order, but for values without bytes. */
export function valuesIn({ metadata, tensors, quants }: Tables): ValueRange[] {
  const values: ValueRange[] = []
  const add = (value: ValueRange | null | undefined): void => {
    if (value && value.end > value.start) values.push(value)
  }
  for (const { value } of metadata) add(value)
  for (const tensor of tensors) {
    add(tensor.data)
    if (quants.size > 0) add(quants.get(tensor))
  }
  return values
}
