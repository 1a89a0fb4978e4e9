// Converting between row and column order reverses the axes: the index that varied fastest becomes the slowest. The output is produced in
// order, one band at a time, so the memory needed is the band and the reads for it.
//
// With the output's dimensions o0 o1 … (slowest first), element (j0, j1, …) is in the input at j0 + o0·(j1 + o1·(…)). A band fixes the axes
// before axis k, and takes a slice of axis k and all of the axes after it. Those after it enumerate "lines" of the input, evenly spaced;
// the band takes one slice of each line. Nearly always k is 0, and a slice is contiguous in the input.
//
// Consecutive lines of the output are `run` lines apart in the input, `run` being the product of the axes after axis k except the last.
// With two axes it is 1, and a band is one matrix to be transposed; otherwise a band is `run` interleaved matrices. If not even two lines
// of such a matrix fit in memory, lines are taken in input order, along the first of these axes.
import { checkAborted, type Range, releaseWindow, takeWindow } from '../bytes/index.js'
import { transpose } from '../kernels/numbers/transpose.js'
import type { Payload } from '../model/index.js'

export interface ReverseOptions {
  /** The maximum size of a band. Larger bands mean fewer and longer reads. */
  readonly budget?: number
}

export const defaultBudget = 1 << 24
/** The maximum number of bytes being read at a time. */
const readBudget = 1 << 21
/** Lines closer together than this are fetched in one read, and the bytes between them discarded. */
const closeLines = 1 << 16
const parallelReads = 64

/** The maximum memory held for a payload of this length: a band, and two stages of up to half its size. */
export const reverseMemory = (byteLength: number): number => 2 * Math.min(byteLength, defaultBudget) + 3 * readBudget

export type RandomAccess = Payload & Required<Pick<Payload, 'read'>>

interface Plan {
  readonly source: RandomAccess
  readonly size: number
  /** The number of elements of the axis that is cut into bands, and their distance in the input. */
  readonly length: number
  readonly spacing: number
  readonly behind: readonly number[]
  readonly lines: number
  readonly run: number
  readonly signal: AbortSignal | undefined
}

/**
 * `dims` are the output's, slowest first, at least two; `size` is bytes per element: 1, 2, 4, 8 or 16. `range`: the bytes that are wanted, by
 * default all.
 */
export async function* reverseAxes(
  source: RandomAccess,
  dims: readonly number[],
  size: number,
  options: ReverseOptions = {},
  signal?: AbortSignal,
  range: Range = { start: 0, end: source.byteLength },
): AsyncGenerator<Uint8Array, void, void> {
  const budget = options.budget ?? defaultBudget
  let axis = 0
  while (axis < dims.length - 1 && product(dims.slice(axis + 1)) * size > budget) axis++
  const [before, behind] = [dims.slice(0, axis), dims.slice(axis + 1)]
  const [lines, run, spacing] = [product(behind), product(behind.slice(0, -1)), product(before)]
  const plan: Plan = { source, size, length: dims[axis]!, spacing, behind, lines, run, signal }
  // An element of axis k with all of the axes behind it is one block of the output.
  const blockSize = lines * size
  const [first, last] = [Math.floor(range.start / blockSize), Math.ceil(range.end / blockSize)]
  const maxWidth = Math.min(plan.length, last - first, Math.max(1, Math.floor(budget / blockSize)))
  const band = takeWindow(maxWidth * blockSize)
  const backwards = before.toReversed()
  try {
    for (let at = first; at < last; ) {
      checkAborted(signal, source.origin?.source.name ?? 'tensor')
      const from = at % plan.length
      const width = Math.min(maxWidth, plan.length - from, last - at)
      await fillBand(plan, reversedIndex((at - from) / plan.length, backwards) + from * spacing, width, band)
      const start = at * blockSize
      yield band.subarray(Math.max(0, range.start - start), Math.min(width * blockSize, range.end - start))
      at += width
    }
  } finally {
    releaseWindow(band)
  }
}

const product = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1)

/** The position with the axes reversed: `index` counts with the first of `dims` fastest, the result with the last. */
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
  const { size, lines, run } = plan
  const lineStride = plan.length * plan.spacing * size
  const isClose = plan.spacing === 1 && (lineStride <= closeLines || width * 2 >= plan.length)
  const pitch = isClose ? lineStride : width * size
  const fit = Math.max(1, Math.floor(readBudget / pitch))
  const some = Math.min(lines, isClose ? fit : Math.min(fit, parallelReads))
  const maxLines = some > run ? some - (some % run) : some
  const stages = (maxLines < lines ? [0, 1] : [0]).map(() => takeWindow((maxLines - 1) * pitch + width * size))
  const stageFor = (line: number): Uint8Array => stages[(line / maxLines) % 2]!
  const fill = async (line: number): Promise<void> => {
    const count = Math.min(maxLines, lines - line)
    const offset = start * size + line * lineStride
    const stage = stageFor(line)
    if (isClose) await readPart(plan, offset, stage.subarray(0, (count - 1) * pitch + width * size))
    else if (plan.spacing === 1) await readLines(plan, offset, lineStride, count, stage, pitch)
    else await gatherLines(plan, offset, lineStride, width, count, stage, pitch)
  }
  // One stage is read while the other is transposed.
  let next: Promise<void> | undefined = fill(0)
  try {
    for (let line = 0; line < lines; line += maxLines) {
      await next
      next = line + maxLines < lines ? fill(line + maxLines) : undefined
      turnLines(plan, stageFor(line), pitch, line, Math.min(maxLines, lines - line), width, band)
    }
  } finally {
    await next?.catch(() => {}) // it still writes to its stage
    for (const stage of stages) releaseWindow(stage)
  }
}

function turnLines(
  { size, lines, run, behind }: Plan,
  stage: Uint8Array,
  pitch: number,
  line: number,
  count: number,
  width: number,
  band: Uint8Array,
): void {
  const turn = (first: number, apart: number, together: number, step: number): void =>
    transpose({
      size,
      source: stage,
      target: band,
      sourceOffset: first * pitch,
      targetOffset: reversedIndex(line + first, behind) * size,
      pitch: apart * pitch,
      targetPitch: lines * size,
      step,
      lines: together,
      width,
    })
  if (line % run === 0 && count > run) {
    for (let first = 0; first < run; first++) turn(first, run, count / run, size)
    return
  }
  const length = behind[0] ?? 1
  for (let first = 0; first < count; ) {
    const together = Math.min(count - first, length - ((line + first) % length))
    turn(first, 1, together, (lines / length) * size)
    first += together
  }
}

async function readPart({ source, signal }: Plan, offset: number, target: Uint8Array): Promise<void> {
  const { origin } = source
  if (origin?.source.readInto) await origin.source.readInto(origin.offset + offset, target, { signal })
  else target.set(await source.read(offset, target.byteLength, signal))
}

/** Reads `count` contiguous slices of `length` bytes into the stage, in parallel. */
async function readLines(
  plan: Plan,
  offset: number,
  stride: number,
  count: number,
  stage: Uint8Array,
  length: number,
): Promise<void> {
  const read = (i: number): Promise<void> =>
    readPart(plan, offset + i * stride, stage.subarray(i * length, (i + 1) * length))
  const reads = Array.from({ length: count }, (_, i) => read(i))
  try {
    await Promise.all(reads)
  } finally {
    await Promise.allSettled(reads) // if one fails, others still write to the stage
  }
}

/** The same for slices whose elements are `spacing` apart, as in bands along a later axis. */
async function gatherLines(
  plan: Plan,
  offset: number,
  stride: number,
  width: number,
  count: number,
  stage: Uint8Array,
  pitch: number,
): Promise<void> {
  const { size, spacing } = plan
  const step = spacing * size
  const maxWidth = Math.min(width, Math.max(1, Math.floor(readBudget / step)))
  const bytes = takeWindow((maxWidth - 1) * step + size)
  try {
    for (let i = 0; i < count; i++) {
      for (let from = 0; from < width; from += maxWidth) {
        const run = Math.min(maxWidth, width - from)
        const source = bytes.subarray(0, (run - 1) * step + size)
        await readPart(plan, offset + i * stride + from * step, source)
        const sides = { source, target: stage, sourceOffset: 0, targetOffset: i * pitch + from * size }
        transpose({ ...sides, size, pitch: step, targetPitch: run * size, step: size, lines: run, width: 1 })
      }
    }
  } finally {
    releaseWindow(bytes)
  }
}
