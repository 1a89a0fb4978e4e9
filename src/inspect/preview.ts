// A few values from the start and the end of a tensor. Only their bytes are read: positions are computed first, and nearby ones are fetched
// together.
import { checkAborted, defaultWindow } from '../bytes/index.js'
import { type DType, f32, type Scalar } from '../dtypes/index.js'
import { failWith, writeCodes } from '../errors/index.js'
import type { Payload, Tensor } from '../model/index.js'
import { castTensor } from '../transforms/cast.js'
import { formatNumber } from './format-number.js'

/** Lists up to this length are shown in full; of longer ones, half as many from either end. */
const wholeList = 10
const maxRows = 5
/** Reading this many unneeded bytes is cheaper than another request. */
const readThrough = 4096

/** Which elements a preview shows, as row-major indexes, row by row. */
export interface PreviewPlan {
  readonly rows: readonly (readonly number[])[]
  /** Whether each row omits its middle. */
  readonly cutRows: boolean
  /** Whether some rows are not shown. */
  readonly moreRows: boolean
  /** A tensor of rank 0 or 1 is one row without a frame around it. */
  readonly framed: boolean
}

/** A matrix shows two of its rows, a tensor of rank 3 three of its flattened slices, and so on up to five. */
export function planPreview(shape: readonly number[], count: number): PreviewPlan {
  const framed = shape.length >= 2
  const rowCount = framed ? shape[0]! : 1
  const rowLength = rowCount === 0 ? 0 : count / rowCount
  const shown = framed ? Math.min(rowCount, shape.length, maxRows) : 1
  const rows = Array.from({ length: shown }, (_, row) => endsOf(rowLength).map((index) => row * rowLength + index))
  return { rows, cutRows: rowLength > wholeList, moreRows: shown < rowCount, framed }
}

/** The indexes that are shown of a list of this length. */
export function endsOf(length: number): number[] {
  if (length <= wholeList) return Array.from({ length }, (_, i) => i)
  const half = wholeList / 2
  return Array.from({ length: wholeList }, (_, i) => (i < half ? i : length - wholeList + i))
}

/** `{ a, b, c }`, with dots where the middle was omitted. */
export function formatList(items: readonly string[], cut: boolean): string {
  const half = wholeList / 2
  const shown = cut ? [...items.slice(0, half), '...', ...items.slice(half)] : items
  return `{ ${shown.join(', ')} }`
}

/** The values in the order of the plan. */
export function formatPreview(plan: PreviewPlan, values: readonly string[]): string {
  const width = plan.rows[0]?.length ?? 0
  const rows = plan.rows.map((_, row) => formatList(values.slice(row * width, (row + 1) * width), plan.cutRows))
  if (!plan.framed) return rows[0]!
  return ['{ ', ...rows.map((row) => `${row} ,`), ...(plan.moreRows ? ['...'] : []), '}'].join('\n')
}

export function formatScalar(value: Scalar, kind: DType['kind']): string {
  if (typeof value === 'object') {
    const im = formatNumber(value.im)
    return `${formatNumber(value.re)}${im.startsWith('-') ? '' : '+'}${im}i`
  }
  if (typeof value !== 'number') return String(value)
  return kind === 'int' || kind === 'uint' ? String(value) : formatNumber(value)
}

/** What the bytes of a tensor mean. */
export const typeOf = (tensor: Tensor): DType => tensor.encoding ?? tensor.dtype

/** Why the values of a tensor cannot be read, or undefined when they can. */
export function whyUnreadable(tensor: Tensor): string | undefined {
  const dtype = typeOf(tensor)
  if (!tensor.data) return 'the tensor is declared without data'
  if (dtype.regions) return dtype.regions.refusal(tensor.shape, tensor.data.byteLength)
  if (!dtype.codec) return `values of type ${dtype.id} cannot be decoded`
  const size = tensor.shape.includes(0) ? 0 : dtype.byteLength(tensor.shape)
  if (size === tensor.data.byteLength) return undefined
  const wanted = size === undefined ? 'is impossible for the type' : `takes ${size}`
  return `${tensor.data.byteLength} bytes are stored, but shape [${tensor.shape.join(', ')}] of ${dtype.id} ${wanted}`
}

/** Elements of a readable tensor by row-major index, in the order asked for. */
export async function readElements(
  tensor: Tensor,
  indexes: readonly number[],
  signal?: AbortSignal,
): Promise<Scalar[]> {
  const { group, codec, regions } = typeOf(tensor)
  if (regions) return readElements(castTensor(tensor, f32), indexes, signal)
  const stored = indexes.map((index) => (tensor.order === 'row' ? index : columnMajorIndex(tensor.shape, index)))
  const wanted = [...new Set(stored.map((index) => Math.floor(index / group.elements)))].sort((a, b) => a - b)
  const runs = joinNear(wanted, group.bytes)
  const ranges = runs.map((run) => {
    const offset = run[0]! * group.bytes
    // The last group of a packed tensor may be incomplete.
    return { offset, end: Math.min((run.at(-1)! + 1) * group.bytes, tensor.data!.byteLength) }
  })
  const read = await readRanges(tensor.data!, ranges, signal)
  const bytesOf = new Map<number, Uint8Array>()
  for (const [at, run] of runs.entries()) {
    for (const each of run)
      bytesOf.set(each, read[at]!.subarray((each - run[0]!) * group.bytes, (each - run[0]! + 1) * group.bytes))
  }
  return stored.map((index) => codec!.element(bytesOf.get(Math.floor(index / group.elements))!, index % group.elements))
}

/** The position of the element with this row-major index when the first dimension varies fastest. */
function columnMajorIndex(shape: readonly number[], index: number): number {
  let stored = 0
  let rest = index
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const dim = shape[axis]!
    stored = stored * dim + (rest % dim)
    rest = Math.floor(rest / dim)
  }
  return stored
}

function joinNear(ascending: readonly number[], bytes: number): number[][] {
  const runs: number[][] = []
  for (const group of ascending) {
    const run = runs.at(-1)
    if (run && (group - run.at(-1)!) * bytes <= readThrough) run.push(group)
    else runs.push([group])
  }
  return runs
}

interface Range {
  readonly offset: number
  readonly end: number
}

/** Copies of ascending ranges of a payload. A payload that can only be streamed is streamed once, up to the last range. */
async function readRanges(payload: Payload, ranges: readonly Range[], signal?: AbortSignal): Promise<Uint8Array[]> {
  const file = payload.origin?.source.name ?? 'payload'
  if (payload.read) {
    const parts: Uint8Array[] = []
    for (const { offset, end } of ranges) {
      checkAborted(signal, file)
      parts.push((await payload.read(offset, end - offset, signal)).slice())
    }
    return parts
  }
  const parts = ranges.map(({ offset, end }) => new Uint8Array(end - offset))
  const last = ranges.at(-1)?.end ?? 0
  let at = 0
  for await (const chunk of payload.chunks(defaultWindow, signal)) {
    checkAborted(signal, file)
    for (const [i, { offset, end }] of ranges.entries()) {
      const from = Math.max(offset - at, 0)
      const to = Math.min(end - at, chunk.byteLength)
      if (from < to) parts[i]!.set(chunk.subarray(from, to), at + from - offset)
    }
    at += chunk.byteLength
    if (at >= last) return parts
  }
  if (at < last)
    failWith(writeCodes['layout-mismatch'], { file, message: `a payload of ${payload.byteLength} bytes gave ${at}` })
  return parts
}
