// Turning row order into column order, or back, means reversing the axes: the index that ran fastest becomes the slowest. The output is
// made in order, one band at a time, so the memory needed is the band and what is being read for it.
//
// With the output's dimensions o0 o1 … (slowest first), element (j0, j1, …) lies in the input at j0 + o0·(j1 + o1·(…)). A band fixes the
// axes before axis k, takes a stretch of axis k and all of the axes behind it. Those behind it enumerate "lines" of the input, evenly
// spaced; from each line the band takes one stretch. Nearly always k is 0, and then a stretch is contiguous in the input.
//
// Lines that follow each other in the output are `run` lines apart in the input, `run` being the product of the axes behind axis k but the
// last: with two axes 1, so that a band is one matrix to be turned, otherwise as many matrices as that, which lie in each other. Where not
// even two lines of such a matrix are in memory, lines are taken as they follow each other in the input, along the first of these axes.
import { checkAborted, releaseWindow, takeWindow } from '../bytes/index.js'
import { transpose } from '../kernels/numbers/transpose.js'
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

/** The most bytes that are held while a payload of this length is turned: a band, and two stages that may be half as large each. */
export const reverseMemory = (byteLength: number): number => 2 * Math.min(byteLength, defaultBudget) + 3 * readBudget

export type RandomAccess = Payload & Required<Pick<Payload, 'read'>>

interface Plan {
  readonly source: RandomAccess
  readonly size: number
  /** Elements of the axis that is cut into bands, and how far they are apart in the input. */
  readonly length: number
  readonly spacing: number
  readonly behind: readonly number[]
  readonly lines: number
  readonly run: number
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
  const [lines, run, spacing] = [product(behind), product(behind.slice(0, -1)), product(before)]
  const plan: Plan = { source, size, length: dims[axis]!, spacing, behind, lines, run, signal }
  const most = Math.min(plan.length, Math.max(1, Math.floor(budget / (lines * size))))
  const band = takeWindow(most * lines * size)
  const backwards = before.toReversed()
  try {
    for (let lead = 0; lead < spacing; lead++) {
      const start = reversedIndex(lead, backwards)
      for (let from = 0; from < plan.length; from += most) {
        checkAborted(signal, source.origin?.source.name ?? 'tensor')
        const width = Math.min(most, plan.length - from)
        await fillBand(plan, start + from * spacing, width, band)
        yield band.subarray(0, width * lines * size)
      }
    }
  } finally {
    releaseWindow(band)
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
  const { size, lines, run } = plan
  const lineStride = plan.length * plan.spacing * size
  const isClose = plan.spacing === 1 && (lineStride <= closeLines || width * 2 >= plan.length)
  const pitch = isClose ? lineStride : width * size
  const fit = Math.max(1, Math.floor(readBudget / pitch))
  const some = Math.min(lines, isClose ? fit : Math.min(fit, parallelReads))
  const most = some > run ? some - (some % run) : some
  const stages = [0, 1].map(() => takeWindow((most - 1) * pitch + width * size))
  const stageFor = (line: number): Uint8Array => stages[(line / most) % 2]!
  const fill = async (line: number): Promise<void> => {
    const count = Math.min(most, lines - line)
    const offset = start * size + line * lineStride
    const stage = stageFor(line)
    if (isClose) await readPart(plan, offset, stage.subarray(0, (count - 1) * pitch + width * size))
    else if (plan.spacing === 1) await readLines(plan, offset, lineStride, count, stage, pitch)
    else await gatherLines(plan, offset, lineStride, width, count, stage, pitch)
  }
  // One stage is read while the other one is turned.
  let next: Promise<void> | undefined = fill(0)
  try {
    for (let line = 0; line < lines; line += most) {
      await next
      next = line + most < lines ? fill(line + most) : undefined
      turnLines(plan, stageFor(line), pitch, line, Math.min(most, lines - line), width, band)
    }
  } finally {
    await next?.catch(() => {}) // it still writes into its stage
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

/** Brings `count` contiguous stretches of `length` bytes into the stage, in parallel reads. */
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
    await Promise.allSettled(reads) // where one fails, others still write into the stage
  }
}

/** The same for stretches whose elements are `spacing` apart, as bands along a later axis have them. */
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
  const most = Math.min(width, Math.max(1, Math.floor(readBudget / step)))
  const bytes = takeWindow((most - 1) * step + size)
  try {
    for (let i = 0; i < count; i++) {
      for (let from = 0; from < width; from += most) {
        const run = Math.min(most, width - from)
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
