// Writing: the entries in the order of the model, then the number of chunks and the name of the text data.
import { encodeUtf8 } from '../../bytes/index.js'
import {
  dataSlot,
  type Layout,
  type Model,
  readPayload,
  type Slot,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { chunkCountKey, countsSuffix, datasetsKey, numberAt, sumsSuffix } from './names.js'

export async function layout(model: Model, { name, signal }: WriteOptions): Promise<Layout> {
  const { metadata, tensors } = model
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]))
  const sums = tensors.filter((tensor) => tensor.name.endsWith(sumsSuffix))
  const slots: Slot[] = [{ kind: 'bytes', path: 'entries', bytes: int32(sums.length) }]
  for (const [i, tensor] of sums.entries()) {
    const stem = tensor.name.slice(0, -sumsSuffix.length)
    slots.push(...(await entrySlots(`entries[${i}]`, stem, tensor, byName.get(stem + countsSuffix)!, signal)))
  }
  const datasets = metadata.get(datasetsKey)
  const last = datasets?.type === 'array' ? datasets.values().at(-1) : undefined
  const dataset = encodeUtf8(last?.type === 'str' ? last.value : '')
  slots.push({ kind: 'bytes', path: 'chunks', bytes: int32(numberAt(metadata, chunkCountKey)) })
  slots.push({ kind: 'bytes', path: 'dataset', bytes: prefixed(dataset) })
  return { files: [{ name, slots }] }
}

async function entrySlots(
  path: string,
  name: string,
  sums: Tensor,
  counts: Tensor,
  signal?: AbortSignal,
): Promise<Slot[]> {
  const [calls] = new Float32Array((await readPayload(counts.data!, signal)).buffer)
  return [
    { kind: 'bytes', path: `${path}.name`, bytes: prefixed(encodeUtf8(name)) },
    { kind: 'bytes', path: `${path}.calls`, bytes: int32(calls!) },
    { kind: 'bytes', path: `${path}.values`, bytes: int32(sums.data!.byteLength / 4) },
    dataSlot(name, sums.data!),
  ]
}

function int32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setInt32(0, value, true)
  return bytes
}

/** Bytes after their length. */
function prefixed(bytes: Uint8Array): Uint8Array {
  const all = new Uint8Array(4 + bytes.byteLength)
  all.set(int32(bytes.byteLength))
  all.set(bytes, 4)
  return all
}
