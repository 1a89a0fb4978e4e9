// The three tables: size variables, metadata, tensors.
import type { ByteSource } from '../../../bytes/index.js'
import type { MovingWindow } from '../../../bytes/moving-window.js'
import type { ReadContext } from '../../../model/index.js'
import { type Blobs, newBlobs } from '../free-space.js'
import type { Header, TableName } from '../header.js'
import type { Names } from '../name-list.js'
import type { MetadataRecord, TensorRecord } from '../records.js'
import { TensorTable } from '../tensor-table.js'
import { RecordReader, smallest } from './record-reader.js'

export interface Tables {
  readonly sizevars: Map<string, bigint>
  readonly metadata: MetadataRecord[]
  readonly tensors: TensorTable
  /** What the records point at, in the order of the records. */
  readonly blobs: Blobs
  /** Where each table ends; absent for one that could not be read to its end. */
  readonly ends: Map<TableName, number>
  /** How many records were left out. */
  readonly refused: number
}

/** `window` moves over the file up to the data section. */
export async function readTables(
  source: ByteSource,
  window: MovingWindow,
  header: Header,
  context: ReadContext,
): Promise<Tables> {
  const sizevars = new Map<string, bigint>()
  const metadata: MetadataRecord[] = []
  const { count, offset, end } = header.tables.tensors
  const tensors = new TensorTable(source, Math.min(count, Math.floor((end - offset) / smallest.tensors)))
  const blobs = newBlobs()
  const ends = new Map<TableName, number>()
  let refused = 0
  const read = async (
    table: TableName,
    names: Names,
    readRecord: (reader: RecordReader, name: string, index: number) => boolean,
    takeUsual?: (record: TensorRecord) => void,
  ): Promise<void> => {
    const reader = new RecordReader(window, table, header, context)
    refused += await reader.readAll(names, readRecord, takeUsual)
    if (reader.complete) ends.set(table, reader.cursor.offset)
  }
  const sizevarNames: string[] = []
  await read(
    'sizevars',
    namesIn(sizevarNames, (name) => name),
    (reader, name) => {
      const value = reader.sizevar()
      if (value === undefined) return false
      sizevars.set(name, value)
      sizevarNames.push(name)
      return true
    },
  )
  await read(
    'metadata',
    namesIn(metadata, ({ key }) => key),
    (reader, key, index) => {
      const record = reader.metadata(key, index)
      if (!record) return false
      metadata.push(record)
      if (record.length > 0) blobs.push('metadata', record, index)
      return true
    },
  )
  const add = (record: TensorRecord): void => {
    const { index, data, quant } = record
    tensors.add(record)
    if (data && data.length > 0) blobs.push('data', data, index)
    if (quant && quant.length > 0) blobs.push('quant', quant, index)
  }
  const readTensor = (reader: RecordReader, name: string, index: number): boolean => {
    const record = reader.tensor(name, index)
    if (record) add(record)
    return record !== undefined
  }
  await read('tensors', tensors.tensors, readTensor, add)
  return { sizevars, metadata, tensors, blobs, ends, refused }
}

const namesIn = <T>(list: readonly T[], nameOf: (item: T) => string): Names => ({
  get length() {
    return list.length
  },
  nameAt: (index) => nameOf(list[index]!),
})
