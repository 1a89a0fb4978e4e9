// A model with a graph, written as it is but for what changes: metadata, names, values, and where the data lie. A tensor of another type than
// the graph computes with is followed by a node that casts it back, so that the graph gives the results that it gave, as far as the type
// has them.
import { companionFiles } from '../../../content/companions.js'
import { failWith } from '../../../errors/index.js'
import type { Layout, Model, Payload, Tensor, WriteOptions } from '../../../model/index.js'
import { joinRopes, protoInt, protoMessage, protoText } from '../../../wire/protobuf/write.js'
import { ownCodes as codes } from '../codes.js'
import { editedSlots, placesIn } from '../edit/edit-file.js'
import type { NewData } from '../edit/rename.js'
import { typeNumbers } from '../tensors/data-types.js'
import { mainDomain, opsetPrefix } from '../words.js'
import { DataFiles, dataFields, maxMessage } from './data-files.js'

/** Writes the graph of `original` with the tensors and the metadata of `planned`, which are those of the graph, one by one. */
export async function graphLayout(original: Model, planned: Model, options: WriteOptions): Promise<Layout> {
  const { name, shardSize, align, signal } = options
  const file = original.files[0]!.name
  checkTensors(original.tensors, planned.tensors, file)
  const { places, elsewhere } = await placesIn(original, signal)
  const outside = original.tensors.filter((tensor) => isOutside(tensor, original)).length
  if (elsewhere > outside) {
    const message =
      'a function, a training step or a sparse tensor has data in another file, which would be left behind'
    failWith(codes['graph-tensors'], { file, path: 'graph', message })
  }
  const isSplit = shardSize !== undefined || outside > 0 || inlineSize(original, planned) > maxMessage
  const files = isSplit ? new DataFiles({ name, maxSize: shardSize, align }) : undefined
  const data = new Map<number, NewData>()
  for (const [i, { start }] of places.entries()) {
    const [before, now] = [original.tensors[i]!, planned.tensors[i]!]
    // Constants stay in their nodes: runtimes look for their values there.
    const own = before.extra?.constant ? undefined : files
    if (!own && !isOutside(before, original) && isSame(before, now)) continue
    if (start === undefined) {
      const message = 'the tensor is given in several pieces, and cannot be written otherwise'
      failWith(codes['graph-tensors'], { file, path: before.name, message })
    }
    data.set(start, newData(before, now, own, original))
  }
  const slots = await editedSlots(original, planned, data, signal)
  return { files: [{ name, slots }, ...(files?.layouts ?? []), ...companionFiles(planned)] }
}

function checkTensors(before: readonly Tensor[], now: readonly Tensor[], file: string): void {
  const refuse = (path: string, message: string): never => failWith(codes['graph-tensors'], { file, path, message })
  if (before.length !== now.length) {
    const kept = new Set(now.map(({ name }) => name))
    const missing = before.find(({ name }) => !kept.has(name))?.name ?? ''
    const hint = 'leave the graph out with --without onnx.graph to write tensors only'
    refuse(missing, `the graph has ${before.length} tensors, ${now.length} would be left; ${hint}`)
  }
  for (const [i, { name, shape }] of before.entries()) {
    const other = now[i]!.shape
    if (shape.length === other.length && shape.every((dim, axis) => dim === other[axis])) continue
    refuse(name, `it would be [${other.join(', ')}], and the graph computes with [${shape.join(', ')}]`)
  }
}

const isOutside = ({ data }: Tensor, { files: [main] }: Model): boolean =>
  data?.origin !== undefined && data.origin.source.name !== main!.name

function isSame(before: Tensor, now: Tensor): boolean {
  const [a, b] = [before.data?.origin, now.data?.origin]
  if (before.dtype !== now.dtype) return false
  return before.data === now.data || (a !== undefined && a.source === b?.source && a.offset === b.offset)
}

/** How large the file would be with all data in it. */
function inlineSize(original: Model, planned: Model): number {
  const sum = (tensors: readonly Tensor[]): number =>
    tensors.reduce((total, { data }) => total + (data?.byteLength ?? 0), 0)
  return original.files[0]!.size - sum(original.tensors) + sum(planned.tensors) + 64 * planned.tensors.length
}

function newData(before: Tensor, now: Tensor, files: DataFiles | undefined, original: Model): NewData {
  const type = typeNumbers.get(now.dtype.id)!
  const fields = dataFields(type, now.name, now.data as Payload, files)
  if (before.dtype === now.dtype) return { fields }
  assertCast(before, now, original)
  const to = `${now.name}@${before.dtype.id}`
  const attribute = [protoText(1, 'to'), protoInt(3, typeNumbers.get(before.dtype.id)!), protoInt(20, 2)]
  const node = protoMessage(1, [
    protoText(1, now.name),
    protoText(2, to),
    protoText(3, `cast ${to}`),
    protoText(4, 'Cast'),
    protoMessage(5, attribute),
  ])
  return { fields, cast: { to, node: joinRopes([node]).pieces[0]! } }
}

/** The first operator set whose Cast takes a type. */
const castSince: Readonly<Record<string, number>> = {
  ...{ f64: 6, f32: 6, f16: 6, i8: 6, i16: 6, i32: 6, i64: 6, u8: 6, u16: 6, u32: 6, u64: 6, bool: 6 },
  ...{ bf16: 13, f8_e4m3: 19, f8_e4m3fnuz: 19, f8_e5m2: 19, f8_e5m2fnuz: 19, i4: 21, u4: 21, f4_e2m1: 23 },
}

function assertCast(before: Tensor, now: Tensor, { metadata, files }: Model): void {
  const stated = metadata.get(opsetPrefix + mainDomain)
  const opset = stated && 'value' in stated ? Number(stated.value) : 0
  for (const { id } of [before.dtype, now.dtype]) {
    const since = castSince[id] ?? Number.POSITIVE_INFINITY
    if (opset >= since) continue
    const why =
      castSince[id] === undefined
        ? 'no operator casts it'
        : `casting it takes operator set ${since}, this model has ${opset}`
    const message = `${id} instead of ${before.dtype.id}: ${why}; keep the tensor as it is with another --cast`
    failWith(codes['graph-type'], { file: files[0]!.name, path: before.name, message })
  }
}
