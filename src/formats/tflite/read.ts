// Reads models of TensorFlow Lite: a FlatBuffer with graphs, their tensors, and the buffers that hold the data of those.
import { type ByteSource, decodeUtf8 } from '../../bytes/index.js'
import { TareError } from '../../errors/index.js'
import {
  type JsonValue,
  type MetaValue,
  type Model,
  type Opened,
  type Part,
  type ReadContext,
  text,
} from '../../model/index.js'
import { Flatbuffer, type Table } from '../../wire/flatbuffers/flatbuffer.js'
import { readBuffers, type StoredBuffer } from './buffers.js'
import { ownCodes as codes } from './codes.js'
import { hasMark } from './detect.js'
import { TensorReader } from './tensors.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { report, extents, signal, limits } = context
  const head = await source.read(0, Math.min(source.size, 8), { signal })
  if (!hasMark(head)) report.fail(codes.magic, { offset: 0, path: 'file', message: 'there is no TFL3 at byte 4' })
  const file = new Flatbuffer(source, { report, extents, signal, maxIndex: limits.indexBytes })
  const root = await file.root()
  const version = root.u32(0)
  if (version !== 3)
    report.report(codes.version, { offset: root.offset, path: 'root.version', message: `version ${version}` })
  const buffers = await readBuffers(file, root, context.onLost !== undefined)
  const reader = new TensorReader(file, buffers, context)
  const graph = await readGraphs(root, reader, context)
  const metadata = await readMetadata(file, root, buffers)
  // What no tensor has belongs to metadata, or to nobody.
  for (const { offset, length, path } of buffers) file.map(offset, length, `${path}.data`, 'field')
  const model: Model = {
    format: 'tflite',
    version: String(version),
    metadata,
    tensors: reader.tensors,
    parts: graph ? [graph] : [],
    files: [source],
  }
  return { model }
}

/** All graphs; the first is the one that a program runs. */
async function readGraphs(root: Table, reader: TensorReader, { report }: ReadContext): Promise<Part | undefined> {
  let first: JsonValue | undefined
  let number = 0
  for await (const _code of root.tables(1, 'operator_codes')) await _code.text(1, 'custom_code')
  for await (const graph of root.tables(2, 'subgraphs')) {
    const names: string[] = []
    for await (const table of graph.tables(0, 'tensors')) {
      try {
        names.push(await reader.add(table, `${number}.${names.length}`))
      } catch (error) {
        // It was reported; where findings are collected, the other tensors are read as well.
        if (report.strict || !(error instanceof TareError)) throw error
        names.push('')
      }
    }
    const named = async (field: number, name: string): Promise<string[]> => {
      const indices = await graph.numbers(field, 4, name, (view, at) => view.getInt32(at, true))
      return indices.map((index) => names[index] ?? '')
    }
    const [inputs, outputs] = [await named(1, 'inputs'), await named(2, 'outputs')]
    const nodes = await countOperators(graph)
    await graph.text(4, 'name')
    first ??= { nodes, inputs, outputs }
    number++
  }
  return first === undefined ? undefined : { kind: 'tflite.graph', sharing: 'private', value: first }
}

/** The operators are not run, but they must be there. */
async function countOperators(graph: Table): Promise<number> {
  let count = 0
  for await (const operator of graph.tables(3, 'operators')) {
    await operator.vector(1, 4, 'inputs')
    await operator.vector(2, 4, 'outputs')
    await operator.table(4, 'builtin_options')
    await operator.vector(5, 1, 'custom_options')
    count++
  }
  return count
}

async function readMetadata(
  file: Flatbuffer,
  root: Table,
  buffers: readonly StoredBuffer[],
): Promise<Map<string, MetaValue>> {
  const metadata = new Map<string, MetaValue>()
  const description = await root.text(3, 'description')
  if (description) metadata.set('description', text(description))
  for await (const entry of root.tables(6, 'metadata')) {
    const name = await entry.text(0, 'name')
    const buffer = buffers[entry.u32(1)]
    if (name === undefined || !buffer) {
      file.report.report(codes.buffer, {
        offset: entry.offset,
        path: entry.path,
        message: 'its buffer or name is not there',
      })
      continue
    }
    const bytes = (await file.bytes(buffer.offset, buffer.length, entry.path)).slice()
    metadata.set(name, contentOf(bytes))
  }
  for await (const signature of root.tables(7, 'signatures')) {
    await signature.text(2, 'key')
    for (const [field, name] of [
      [0, 'inputs'],
      [1, 'outputs'],
    ] as const)
      for await (const each of signature.tables(field, name)) await each.text(0, 'name')
  }
  return metadata
}

/** Texts are filled up with NUL. */
function contentOf(bytes: Uint8Array): MetaValue {
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1
  const found = decodeUtf8(bytes.subarray(0, end))
  return found !== undefined && !unprintable.test(found) ? text(found) : { type: 'bytes', value: bytes }
}

/** Control characters other than tabs and ends of lines. */
const unprintable = /[^\t\n\x20-\uffff]/
