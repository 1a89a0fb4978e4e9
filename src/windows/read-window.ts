// A window of a tensor: some rows and columns of it as f32, the same bits as `extract --as f32` gives for that slice. It is read in bands of
// storage, never row by row: a read costs more than the bytes between two rows that lie close together.
import { checkAborted, releaseWindow, takeEvenWindow } from '../bytes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { Tensor } from '../model/index.js'
import { fileOf, type Plane, planeOf, type ViewOptions } from './plane.js'
import { copyBits, openSpans, requireValues, type Spans } from './spans.js'

/** Ends are exclusive. */
export type Interval = readonly [start: number, end: number]

/** Which rows and columns of a tensor to read. */
export interface TensorWindowOptions extends ViewOptions {
  /** Default: all. */
  readonly rows?: Interval | undefined
  readonly columns?: Interval | undefined
  readonly signal?: AbortSignal | undefined
}

/** Rows and columns of a tensor as numbers. */
export interface TensorWindow {
  /** Row by row. */
  readonly data: Float32Array
  readonly rows: number
  readonly columns: number
}

const maxValues = 2 ** 28
/** Values in a band: 4 MiB of f32. */
const maxBand = 1 << 20
/** Reading this many unneeded bytes is faster than another read. */
const readThrough = 1 << 17

/** `out` is filled and returned when it is given; it may be longer than needed. */
export async function readWindow(
  tensor: Tensor,
  options: TensorWindowOptions = {},
  out?: Float32Array,
): Promise<TensorWindow> {
  const { type } = requireValues(tensor)
  const plane = planeOf(tensor, options)
  const rows = intervalIn(tensor, 'rows', options.rows, plane.rows)
  const columns = intervalIn(tensor, 'columns', options.columns, plane.columns)
  const [height, width] = [rows[1] - rows[0], columns[1] - columns[0]]
  const count = height * width
  const room = out?.length ?? maxValues
  if (count > room) {
    const message = `${height} rows of ${width} values do not fit ${room}`
    failWith(usageCodes.option, { file: fileOf(tensor), path: tensor.name, message })
  }
  const data = out ? out.subarray(0, count) : new Float32Array(count)
  if (count === 0) return { data, rows: height, columns: width }
  const spans = openSpans(tensor, options.signal)
  const scratch = takeEvenWindow(4 * maxBand)
  try {
    const bits = type.group.bytes / type.group.elements
    for (const band of bandsOf(plane, rows, columns, bits)) {
      checkAborted(options.signal, fileOf(tensor))
      await fillBand(spans, band, data, new Float32Array(scratch.buffer, scratch.byteOffset, maxBand))
    }
  } finally {
    releaseWindow(scratch)
    await spans.close()
  }
  return { data, rows: height, columns: width }
}

export function intervalIn(tensor: Tensor, name: string, given: Interval | undefined, length: number): Interval {
  const [start, end] = given ?? [0, length]
  const isInside = Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start <= end && end <= length
  if (isInside) return [start, end]
  const message = `${name} ${start} to ${end} were requested, but there are ${length}`
  return failWith(usageCodes.option, { file: fileOf(tensor), path: tensor.name, message })
}

/** Lines of elements in storage, and where they go. Strides are in elements, `to` strides in values of the result. */
interface Band {
  readonly first: number
  readonly lines: number
  readonly lineStride: number
  readonly length: number
  readonly stride: number
  readonly to: number
  readonly toLine: number
  readonly toStride: number
}

/** In ascending order of storage. */
function* bandsOf(plane: Plane, rows: Interval, columns: Interval, bytesPerValue: number): Generator<Band, void, void> {
  const [height, width] = [rows[1] - rows[0], columns[1] - columns[0]]
  const first = plane.first + rows[0] * plane.rowStride + columns[0] * plane.columnStride
  const down = { count: height, stride: plane.rowStride, to: width }
  const across = { count: width, stride: plane.columnStride, to: 1 }
  const isByRow = plane.rowStride >= plane.columnStride || width === 1
  const [outer, inner] = isByRow ? [down, across] : [across, down]
  const isNear = (stride: number): boolean => stride * bytesPerValue <= readThrough
  const length = isNear(inner.stride) ? Math.min(inner.count, Math.floor((maxBand - 1) / inner.stride) + 1) : 1
  const reach = (length - 1) * inner.stride + 1
  const canJoin = length === inner.count && isNear(outer.stride - reach) && reach <= maxBand
  const lines = canJoin ? Math.min(outer.count, Math.floor((maxBand - reach) / Math.max(outer.stride, 1)) + 1) : 1
  for (let line = 0; line < outer.count; line += lines) {
    for (let at = 0; at < inner.count; at += length) {
      yield {
        first: first + line * outer.stride + at * inner.stride,
        lines: Math.min(lines, outer.count - line),
        lineStride: outer.stride,
        length: Math.min(length, inner.count - at),
        stride: inner.stride,
        to: line * outer.to + at * inner.to,
        toLine: outer.to,
        toStride: inner.to,
      }
    }
  }
}

async function fillBand(spans: Spans, band: Band, data: Float32Array, scratch: Float32Array): Promise<void> {
  const { first, lines, lineStride, length, stride, to, toLine, toStride } = band
  const reach = (length - 1) * stride + 1
  const count = (lines - 1) * lineStride + reach
  const isWhole = stride === 1 && toStride === 1 && (lines === 1 || (lineStride === length && toLine === length))
  if (isWhole) return spans.read(first, data.subarray(to, to + count))
  const values = scratch.subarray(0, count)
  await spans.read(first, values)
  if (stride === 1 && toStride === 1) {
    for (let line = 0; line < lines; line++) {
      const from = line * lineStride
      copyBits(values.subarray(from, from + length), data.subarray(to + line * toLine, to + line * toLine + length))
    }
    return
  }
  const source = new Uint32Array(values.buffer, values.byteOffset, count)
  const target = new Uint32Array(data.buffer, data.byteOffset, data.length)
  for (let line = 0; line < lines; line++) {
    let from = line * lineStride
    let at = to + line * toLine
    for (let i = 0; i < length; i++, from += stride, at += toStride) target[at] = source[from]!
  }
}
