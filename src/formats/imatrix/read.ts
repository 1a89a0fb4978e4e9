// An importance matrix in the form that llama.cpp wrote before it used GGUF. For every weight it holds, column by column, how much the
// activations that the column is multiplied with contributed: the mean of their squares, summed over calls.
//
//   i32 entries
//   per entry: i32 length, name | i32 calls | i32 values | f32 each
//   i32 chunks | i32 length, name of the text data     (older files end before, or between)
//
// The model that comes out has the tensors and keys of the GGUF form: `NAME.in_sum2`, the sums, and `NAME.counts`, what they are divided by.
import { type ByteSource, Cursor, checkedMultiply, decodeUtf8 } from '../../bytes/index.js'
import { f32 } from '../../dtypes/index.js'
import {
  bytesPayload,
  type MetaValue,
  type Opened,
  type ReadContext,
  rangePayload,
  type Tensor,
} from '../../model/index.js'
import { codes } from './codes.js'
import { minEntrySize } from './detect.js'
import { chunkCountKey, chunkSizeKey, countsSuffix, datasetsKey, sumsSuffix, typeKey } from './names.js'

interface Entry {
  readonly name: string
  readonly calls: number
  readonly values: number
  /** Where the values start. */
  readonly offset: number
}

/** No name of a tensor is nearly as long. */
const maxName = 1 << 16

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { report, extents, signal } = context
  const start = new Cursor(await source.read(0, Math.min(4, source.size), { signal }), report, { extents })
  const count = start.i32('entries')
  if (count < 1 || count > (source.size - 4) / minEntrySize) {
    const message = `${count} entries in a file of ${source.size} bytes`
    report.fail(codes['entry-count'], { offset: 0, length: 4, path: 'entries', message })
  }
  const entries = new Map<string, Entry>()
  let at = 4
  for (let i = 0; i < count; i++) {
    const entry = await readEntry(source, at, i, context)
    if (entries.has(entry.name)) {
      const message = `${JSON.stringify(entry.name)} occurs twice`
      report.report(codes['duplicate-name'], { offset: at, length: 4, path: `entries[${i}].name`, message })
    }
    entries.set(entry.name, entry)
    const length = entry.values * 4
    extents?.add({
      file: report.file,
      offset: entry.offset,
      length,
      path: `data[${JSON.stringify(entry.name)}]`,
      kind: 'data',
    })
    at = entry.offset + length
  }
  const metadata = await readTail(source, at, context)
  const tensors = [...entries.values()].flatMap((entry) => tensorsOf(source, entry))
  return { model: { format: 'imatrix', version: '1', metadata, tensors, parts: [], files: [source] } }
}

async function readEntry(
  source: ByteSource,
  at: number,
  index: number,
  { report, extents, signal }: ReadContext,
): Promise<Entry> {
  const head = await source.read(at, Math.min(4 + maxName + 8, source.size - at), { signal })
  const cursor = new Cursor(head, report, { base: at, extents, path: ['entries', index] })
  const length = cursor.i32('name_length')
  const refuse = (code: (typeof codes)[keyof typeof codes], offset: number, field: string, message: string): never =>
    report.fail(code, { offset, length: 4, path: cursor.pathOf(field), message })
  if (length < 1 || length > Math.min(maxName, source.size - cursor.offset))
    refuse(codes.name, at, 'name_length', `a name of ${length} bytes, ${source.size - cursor.offset} are left`)
  const name =
    decodeUtf8(cursor.raw(length, 'name', decodeUtf8)) ?? refuse(codes.name, at + 4, 'name', 'it is not UTF-8')
  const calls = cursor.i32('calls')
  if (calls < 0) refuse(codes['call-count'], cursor.offset - 4, 'calls', `${calls} calls`)
  const values = cursor.i32('values')
  const offset = cursor.offset
  const size = values < 1 ? undefined : checkedMultiply(values, 4)
  if (size === undefined || size > source.size - offset)
    refuse(codes['value-count'], offset - 4, 'values', `${values} values, ${source.size - offset} bytes are left`)
  return { name, calls, values, offset }
}

/** Values without calls are taken as they are, as if there had been one. */
function tensorsOf(source: ByteSource, { name, calls, values, offset }: Entry): Tensor[] {
  const counts = new Uint8Array(4)
  new DataView(counts.buffer).setFloat32(0, Math.max(calls, 1), true)
  const plain = { dtype: f32, order: 'row', role: 'weight' } as const
  return [
    { ...plain, name: name + sumsSuffix, shape: [values], data: rangePayload(source, offset, values * 4) },
    { ...plain, name: name + countsSuffix, shape: [1], data: bytesPayload(counts) },
  ]
}

/** The keys of the GGUF form. A call stands for a chunk there, so the size of one is 1. */
async function readTail(source: ByteSource, at: number, context: ReadContext): Promise<Map<string, MetaValue>> {
  const { report, extents, signal } = context
  const metadata = new Map<string, MetaValue>([[typeKey, { type: 'str', value: 'imatrix' }]])
  const datasets: MetaValue[] = []
  let chunks = 0
  if (source.size > at) {
    const tail = await source.read(at, Math.min(8 + maxName, source.size - at), { signal })
    const cursor = new Cursor(tail, report, { base: at, extents })
    chunks = cursor.i32('chunks')
    if (cursor.remaining > 0) {
      const length = cursor.i32('dataset_length')
      if (length < 0 || length > cursor.remaining) {
        const message = `a name of ${length} bytes, ${cursor.remaining} are left`
        report.report(codes.tail, { offset: at + 4, length: 4, path: 'dataset_length', message })
      } else if (length > 0) {
        datasets.push({ type: 'str', value: new TextDecoder().decode(cursor.raw(length, 'dataset', decodeUtf8)) })
      }
      if (source.size > cursor.offset && datasets.length > 0) {
        const message = `${source.size - cursor.offset} bytes follow`
        report.report(codes['trailing-bytes'], {
          offset: cursor.offset,
          length: source.size - cursor.offset,
          path: 'dataset',
          message,
        })
      }
    }
  }
  metadata.set(datasetsKey, {
    type: 'array',
    item: 'str',
    length: datasets.length,
    values: () => datasets,
  })
  metadata.set(chunkCountKey, { type: 'u32', value: Math.max(0, chunks) })
  metadata.set(chunkSizeKey, { type: 'u32', value: 1 })
  return metadata
}
