// Turning row order into column order, or back, means reversing the axes: the index that ran fastest becomes the slowest. The output is
// made in order, one band at a time, so the memory needed is the band and what is being read for it.
//
// With the output's dimensions o0 o1 … (slowest first), element (j0, j1, …) lies in the input at j0 + o0·(j1 + o1·(…)). A band fixes the
// axes before axis k, takes a stretch of axis k and all of the axes behind it. Those behind it enumerate "lines" of the input, evenly
// spaced; from each line the band takes one stretch. Nearly always k is 0, and then a stretch is contiguous in the input.
import { checkAborted } from '../bytes/index.js'
import type { ViewType } from '../dtypes/views.js'
import type { Payload } from '../model/index.js'

export interface ReverseOptions {
  /** The most bytes of a band. Larger bands mean fewer and longer reads. */
  readonly budget?: number
}

const defaultBudget = 1 << 24
/** The most bytes that are being read at a time. */
const readBudget = 1 << 21
/** Lines closer together than this are fetched in one read, and what lies between them is thrown away. */
const closeLines = 1 << 16
const parallelReads = 64

export type RandomAccess = Payload & Required<Pick<Payload, 'read'>>

interface Plan {
  readonly source: RandomAccess
  readonly size: number
  /** Elements of the axis that is cut into bands, and how far they are apart in the input. */
  readonly length: number
  readonly spacing: number
  readonly before: readonly number[]
  readonly behind: readonly number[]
  readonly lines: number
  readonly signal: AbortSignal | undefined
}

/** `dims` are the output's, slowest first, at least two; `size` is bytes per element: 1, 2, 4, 8 or 16. */
export async function* reverseAxes(
  source: RandomAccess,
  dims: readonly number[],
  size: number,
  options: ReverseOptions = {},
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const budget = options.budget ?? defaultBudget
  let axis = 0
  while (axis < dims.length - 1 && product(dims.slice(axis + 1)) * size > budget) axis++
  const [before, behind] = [dims.slice(0, axis), dims.slice(axis + 1)]
  const lines = product(behind)
  const plan: Plan = { source, size, length: dims[axis]!, spacing: product(before), before, behind, lines, signal }
  const most = Math.min(plan.length, Math.max(1, Math.floor(budget / (lines * size))))
  const band = new Uint8Array(most * lines * size)
  const backwards = before.toReversed()
  for (let lead = 0; lead < plan.spacing; lead++) {
    const start = reversedIndex(lead, backwards)
    for (let from = 0; from < plan.length; from += most) {
      checkAborted(signal, source.origin?.source.name ?? 'tensor')
      const width = Math.min(most, plan.length - from)
      await fillBand(plan, start + from * plan.spacing, width, band)
      yield band.subarray(0, width * lines * size)
    }
  }
}

const product = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1)

/** The position with the axes in reverse: `index` counts with the first of `dims` running fastest, the result with the last. */
function reversedIndex(index: number, dims: readonly number[]): number {
  let place = 0
  let rest = index
  for (const dim of dims) {
    const coordinate = rest % dim
    place = place * dim + coordinate
    rest = (rest - coordinate) / dim
  }
  return place
}

async function fillBand(plan: Plan, start: number, width: number, band: Uint8Array): Promise<void> {
  const { size, lines } = plan
  const pitch = width * size + 64 // lines a power of two apart would fight for the same places in the cache
  const lineStride = plan.length * plan.spacing * size
  const isClose = lineStride <= closeLines || width * 2 >= plan.length
  const fit = Math.floor(readBudget / (plan.spacing === 1 && isClose ? lineStride : width * size))
  const most = Math.min(lines, Math.max(1, plan.spacing === 1 && isClose ? fit : Math.min(fit, parallelReads)))
  const stage = new Uint8Array(pitch * most)
  const places = new Uint32Array(most)
  for (let line = 0; line < lines; line += most) {
    const count = Math.min(most, lines - line)
    const offset = start * size + line * lineStride
    if (plan.spacing > 1) await gatherLines(plan, offset, lineStride, width, count, stage, pitch)
    else await readLines(plan, offset, lineStride, width * size, count, isClose, stage, pitch)
    for (let i = 0; i < count; i++) places[i] = reversedIndex(line + i, plan.behind)
    scatter(stage, pitch, band, places.subarray(0, count), width, lines, size)
  }
}

/** Brings `count` contiguous stretches into the stage: in one read when they are close, in parallel ones otherwise. */
async function readLines(
  { source, signal }: Plan,
  offset: number,
  stride: number,
  length: number,
  count: number,
  isClose: boolean,
  stage: Uint8Array,
  pitch: number,
): Promise<void> {
  if (isClose) {
    const bytes = await source.read(offset, (count - 1) * stride + length, signal)
    for (let i = 0; i < count; i++) stage.set(bytes.subarray(i * stride, i * stride + length), i * pitch)
    return
  }
  const read = async (i: number): Promise<void> =>
    stage.set(await source.read(offset + i * stride, length, signal), i * pitch)
  await Promise.all(Array.from({ length: count }, (_, i) => read(i)))
}

/** The same for stretches whose elements are `spacing` apart, as bands along a later axis have them. */
async function gatherLines(
  { source, size, spacing, signal }: Plan,
  offset: number,
  stride: number,
  width: number,
  count: number,
  stage: Uint8Array,
  pitch: number,
): Promise<void> {
  const step = spacing * size
  const most = Math.max(1, Math.floor(readBudget / step))
  for (let i = 0; i < count; i++) {
    for (let from = 0; from < width; from += most) {
      const run = Math.min(most, width - from)
      const bytes = await source.read(offset + i * stride + from * step, (run - 1) * step + size, signal)
      for (let k = 0; k < run; k++) {
        const target = i * pitch + (from + k) * size
        for (let b = 0; b < size; b++) stage[target + b] = bytes[k * step + b]!
      }
    }
  }
}

/** Moves in words of the element's size, or of four bytes. Word patterns, not floats: a NaN must not change. */
function scatter(
  stage: Uint8Array,
  pitch: number,
  band: Uint8Array,
  places: Uint32Array,
  width: number,
  lines: number,
  size: number,
): void {
  const type: ViewType<Words> = size === 1 ? Uint8Array : size === 2 ? Uint16Array : Uint32Array
  const word = type.BYTES_PER_ELEMENT
  const from = new type(stage.buffer, stage.byteOffset, stage.byteLength / word)
  const to = new type(band.buffer, band.byteOffset, band.byteLength / word)
  if (size === word) moveWords(from, pitch / word, to, places, width, lines)
  else moveGroups(from, pitch / word, to, places, width, lines, size / word)
}

type Words = Uint8Array | Uint16Array | Uint32Array

/** So many lines at a time: each is read along, and what is written lies together in whole cache lines. */
const tile = 64

function moveWords(stage: Words, pitch: number, band: Words, places: Uint32Array, width: number, lines: number): void {
  for (let first = 0; first < places.length; first += tile) {
    const end = Math.min(first + tile, places.length)
    for (let column = 0; column < width; column++) {
      const target = column * lines
      let source = first * pitch + column
      for (let line = first; line < end; line++, source += pitch) band[target + places[line]!] = stage[source]!
    }
  }
}

/** The same for elements of several words. */
function moveGroups(
  stage: Words,
  pitch: number,
  band: Words,
  places: Uint32Array,
  width: number,
  lines: number,
  perElement: number,
): void {
  for (let first = 0; first < places.length; first += tile) {
    const end = Math.min(first + tile, places.length)
    for (let column = 0; column < width; column++) {
      for (let line = first; line < end; line++) {
        const target = (column * lines + places[line]!) * perElement
        const source = line * pitch + column * perElement
        for (let k = 0; k < perElement; k++) band[target + k] = stage[source + k]!
      }
    }
  }
}
