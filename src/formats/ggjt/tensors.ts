// The tensors, one behind another up to the end of the file.
import { alignUp, checkedAdd, countElements, decodeUtf8, WindowReader } from '../../bytes/index.js'
import { ggmlTypeInVersion } from '../../dtypes/ggml/types.js'
import type { DType } from '../../dtypes/index.js'
import { neededSize } from '../../errors/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { fixedSize, headAt, isPossibleHead } from './tensor-head.js'
import { cursorAt } from './window.js'

export interface Place {
  readonly start: number
  readonly alignment: number
  /** Of the quantized types: 2 is today's. */
  readonly typeVersion: number
}

/** A tensor, and where the next one begins. */
interface Found {
  readonly tensor?: Tensor
  readonly next: number
}

export async function readTensors(
  source: WindowReader['source'],
  place: Place,
  context: ReadContext,
): Promise<Tensor[]> {
  const { report, onLost, signal } = context
  const window = new WindowReader(source, { signal })
  const tensors: Tensor[] = []
  const names = new Map<string, number>()
  for (let at = place.start, index = 0; at < source.size; index++) {
    const found = await readTensor(window, at, index, place, context)
    if (!found) {
      onLost?.({ subject: 'tensor', reason: `nothing says what follows from byte ${at} on` })
      break
    }
    const { tensor, next } = found
    if (tensor) {
      const before = names.get(tensor.name)
      if (before === undefined) {
        names.set(tensor.name, at)
        tensors.push(tensor)
      } else {
        const message = `${JSON.stringify(tensor.name)} begins at ${before}, too`
        report.report(codes['duplicate-name'], { offset: at, path: `tensors[${index}].name`, message })
        onLost?.({ subject: 'tensor', name: tensor.name, reason: 'another one has the same name' })
      }
    }
    at = next
  }
  return tensors
}

/** Undefined where nothing says how to go on. */
async function readTensor(
  window: WindowReader,
  at: number,
  index: number,
  { alignment, typeVersion }: Place,
  context: ReadContext,
): Promise<Found | undefined> {
  const { report, extents, onLost } = context
  const { source, end: size } = window
  const path = `tensors[${index}]`
  await window.reach(at, Math.min(fixedSize, size - at))
  const head = size - at < fixedSize ? undefined : headAt(window, at)
  if (!head || !isPossibleHead(head) || head.size > size - at) {
    const isCut = !head || isPossibleHead(head)
    const rest = `${size - at} bytes are left`
    const message = head
      ? `${head.dims} dimensions, a name of ${head.nameLength} bytes, type ${head.type}; ${rest}`
      : rest
    const details = { offset: at, length: Math.min(fixedSize, size - at), path, message }
    const needed = isCut && { ...neededSize(at + (head?.size ?? fixedSize)), needsMore: true as const }
    report.report(codes['tensor-head'], { ...details, ...needed })
    noteRest(context, at, size, path)
    return undefined
  }
  const cursor = await cursorAt(window, at, head.size, report, { extents, path: ['tensors', index] })
  for (const field of ['n_dims', 'name_length', 'type']) cursor.u32(field)
  const dims = Array.from({ length: head.dims }, (_, k) => cursor.i32(`dims[${k}]`))
  const nameBytes = cursor.raw(head.nameLength, 'name', decodeUtf8)
  const name = decodeUtf8(nameBytes)
  const shape = dims.toReversed()
  const dtype = ggmlTypeInVersion(head.type, typeVersion)
  const length = dims.every((dim) => dim >= 0) ? byteLength(dtype, shape) : undefined
  const offset = alignUp(cursor.offset, alignment)
  const next = length === undefined ? undefined : checkedAdd(offset, length)
  if (!dtype || length === undefined || next === undefined) {
    const message = `${JSON.stringify(name)}: [${shape.join(', ')}] of ${dtype?.id ?? `type ${head.type}`}`
    report.report(codes['tensor-shape'], { offset: at, length: head.size, path, message })
    noteRest(context, cursor.offset, size, path)
    return undefined
  }
  await checkPadding(window, cursor.offset, Math.min(offset, size), path, context)
  if (next > size) {
    const message = `${JSON.stringify(name)}: ${length} bytes, ${Math.max(0, size - offset)} are there`
    report.report(codes['data-truncated'], {
      offset,
      length: Math.max(0, size - offset),
      path,
      message,
      ...neededSize(next),
      needsMore: true,
    })
    noteRest(context, Math.min(offset, size), size, path)
    onLost?.({ subject: 'tensor', name, length, reason: 'the file ends before its data does' })
    return undefined
  }
  if (length > 0)
    extents?.add({ file: report.file, offset, length, path: `data[${JSON.stringify(name)}]`, kind: 'data' })
  if (name === undefined) {
    report.report(codes['tensor-name'], {
      offset: at + head.size - head.nameLength,
      length: head.nameLength,
      path: `${path}.name`,
      message: 'it is not UTF-8',
    })
    onLost?.({ subject: 'tensor', length, reason: 'its name is not UTF-8' })
    return { next }
  }
  return {
    tensor: { name, dtype, shape, order: 'row', role: 'weight', data: rangePayload(source, offset, length) },
    next,
  }
}

const byteLength = (dtype: DType | undefined, shape: readonly number[]): number | undefined =>
  countElements(shape) === undefined ? undefined : dtype?.byteLength(shape)

async function checkPadding(
  window: WindowReader,
  start: number,
  end: number,
  path: string,
  { report, extents }: ReadContext,
): Promise<void> {
  if (end <= start) return
  await window.reach(start, end - start)
  extents?.add({ file: report.file, offset: start, length: end - start, path: `${path}.padding`, kind: 'padding' })
  if (window.slice(start, end - start).every((byte) => byte === 0)) return
  report.report(codes.padding, {
    offset: start,
    length: end - start,
    path: `${path}.padding`,
    message: 'it is not zero',
  })
}

/** The bytes that nobody can read belong to the byte map as well. */
function noteRest({ extents, report }: ReadContext, offset: number, size: number, path: string): void {
  if (size > offset)
    extents?.add({ file: report.file, offset, length: size - offset, path: `${path}.rest`, kind: 'data' })
}
