// The payload of a q* or k* tensor. All scales precede all codes, so every block must be examined before the first code can be written. A
// payload of ordinary size is assembled in memory. For a large one only the scales are kept, and the values are read again to produce the
// codes, which is cheap once the scales are known; if even the scales are too many, they are computed twice.

import { releaseWindow, takeEvenWindow } from '../../bytes/index.js'
import { fillView, viewOf } from '../../bytes/views.js'
import { type BlockLayout, blockLayout, type Method } from '../../dtypes/mcf/layout.js'
import {
  blockKernels,
  blockValues,
  type CodeBits,
  type CodeSet,
  expandBlocks,
  expandSupers,
  superBlocks,
  supersPerRow,
  type TileKernels,
  tileBlocks,
} from '../../kernels/mcf/index.js'
import { reweighBlocks, reweighSupers } from '../../kernels/mcf/weighted.js'
import { lazyPayload, type Payload, payloadRange } from '../../model/index.js'
import { type MakeRows, type RegionName, regionBytes, regionSlices, workCost } from './regions.js'
import { loadTile, type Matrix, refuseBlock, type Tile, tilesOf } from './tiles.js'

export type Mode = 'search' | 'reference'

/** How scales are found, and which codes are used with them. */
export interface Manner {
  readonly mode: Mode
  readonly codes: CodeSet
  /** How much the error of each column counts; default: all the same. */
  readonly importance?: Float32Array | undefined
}

/** Payloads up to this size are produced in one pass. */
export const maxWhole = 1 << 25
/** Scales up to this size are kept for the second pass. */
export const maxScales = 1 << 26

/** The maximum memory held while a quantized payload of this length is produced. */
export const quantizeMemory = (byteLength: number): number =>
  Math.min(byteLength, byteLength <= maxWhole ? maxWhole : maxScales)

interface Job {
  readonly method: Method
  readonly layout: BlockLayout
  readonly matrix: Matrix
  readonly manner: Manner
  readonly kernels: TileKernels
}

/** The result for one tile. */
interface Piece {
  readonly halves: Uint16Array
  readonly subScales: Uint8Array
  readonly codes: Uint8Array
}

export interface BlockLimits {
  readonly whole?: number
  readonly scales?: number
}

export function blockPayload(
  method: Method,
  layout: BlockLayout,
  matrix: Matrix,
  manner: Manner,
  limits: BlockLimits = {},
): Payload {
  const jobNow = (): Job => ({ method, layout, matrix, manner, kernels: blockKernels() })
  const makeRows: MakeRows = (region, firstRow, rows, signal) => makeRegion(jobNow(), region, firstRow, rows, signal)
  const all = lazyPayload(layout.byteLength, (signal) => {
    if (layout.byteLength <= (limits.whole ?? maxWhole))
      return inOnePiece(layout, (bytes) => fillWhole(jobNow(), bytes, signal))
    if (layout.codesOffset <= (limits.scales ?? maxScales)) return scalesFirst(jobNow(), signal)
    return regionBytes(method, layout, 0, layout.byteLength, makeRows, signal)
  })
  const { byteLength, chunks } = all
  const cost = workCost(layout) / byteLength
  return { byteLength, chunks, cost, slices: regionSlices(method, layout, makeRows) }
}

/** A payload in one buffer. `fill` gets it zeroed before the codes: padding between the regions stays zero. */
export async function* inOnePiece(
  { byteLength, codesOffset }: BlockLayout,
  fill: (bytes: Uint8Array) => Promise<void>,
): AsyncGenerator<Uint8Array, void, void> {
  const bytes = takeEvenWindow(byteLength).fill(0, 0, codesOffset)
  try {
    await fill(bytes)
    yield bytes
  } finally {
    releaseWindow(bytes)
  }
}

async function fillWhole(job: Job, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  const piece = roomFor(job)
  for await (const tile of tilesOf(job.matrix, signal)) {
    const codes = bytes.subarray(job.layout.codesOffset + tile.firstBlock * job.layout.codeSize)
    putScales(job, tile, quantizeTile(job, tile, { ...piece, codes }), bytes)
  }
}

async function* scalesFirst(job: Job, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const head = new Uint8Array(job.layout.codesOffset)
  await fillScales(job, head, signal)
  yield head
  yield* makeCodes(job, head, signal)
}

async function fillScales(job: Job, head: Uint8Array, signal?: AbortSignal): Promise<void> {
  const piece = roomFor(job)
  for await (const tile of tilesOf(job.matrix, signal)) putScales(job, tile, quantizeTile(job, tile, piece), head)
}

async function* makeCodes(job: Job, head: Uint8Array, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const piece = roomFor(job)
  for await (const tile of tilesOf(job.matrix, signal)) {
    // The reference derives codes from scales that are not stored, so they are computed again, which is fast.
    yield job.manner.mode === 'reference' ? quantizeTile(job, tile, piece).codes : encodeTile(job, tile, head, piece)
  }
}

/**
 * All of a matrix, or only its scales, or, with these as `head`, only the codes. For matrices of ordinary size. Padding between the regions
 * is not written.
 */
export async function quantizeInto(
  bytes: Uint8Array,
  method: Method,
  layout: BlockLayout,
  matrix: Matrix,
  manner: Manner,
  want: 'all' | 'scales' | 'codes',
  head?: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const job: Job = { method, layout, matrix, manner, kernels: blockKernels() }
  if (want === 'all') return fillWhole(job, bytes, signal)
  if (want === 'scales') return fillScales(job, bytes, signal)
  let at = layout.codesOffset
  for await (const codes of makeCodes(job, head!, signal)) {
    bytes.set(codes, at)
    at += codes.byteLength
  }
}

/** What one region holds of some rows. */
async function* makeRegion(
  job: Job,
  region: RegionName,
  firstRow: number,
  rows: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const some = rowsOf(job, firstRow, rows)
  const piece = roomFor(some)
  for await (const tile of tilesOf(some.matrix, signal)) {
    const made = quantizeTile(some, tile, piece)[region]
    yield made instanceof Uint16Array ? littleEndian(made) : made
  }
}

function rowsOf(job: Job, firstRow: number, rows: number): Job {
  const { columns, values, base = 0 } = job.matrix
  const row = columns * 4
  const some = payloadRange(values, firstRow * row, rows * row)
  const layout = blockLayout(job.method, [rows, columns])!
  return { ...job, layout, matrix: { ...job.matrix, rows, base: base + firstRow, values: some } }
}

function roomFor({ method }: Job): Piece {
  return {
    halves: new Uint16Array(tileBlocks),
    subScales: new Uint8Array(tileBlocks),
    codes: new Uint8Array(tileBlocks * 4 * method.bits),
  }
}

function cut(room: Piece, { method }: Job, { rows, perRow }: Tile): Piece {
  const blocks = rows * perRow
  return {
    halves: room.halves.subarray(0, method.family === 'q' ? blocks : rows * supersPerRow(perRow)),
    subScales: room.subScales.subarray(0, blocks),
    codes: room.codes.subarray(0, blocks * 4 * method.bits),
  }
}

function quantizeTile(job: Job, tile: Tile, room: Piece): Piece {
  const { kernels, matrix, method, manner } = job
  const bits = method.bits as CodeBits
  const piece = cut(room, job, tile)
  const { halves, subScales, codes } = piece
  loadTile(kernels, matrix, tile)
  if (manner.mode === 'reference') {
    if (method.family === 'q') kernels.referenceBlocks(bits, tile, halves, codes)
    else kernels.referenceSupers(bits, tile, halves, subScales, codes)
    return piece
  }
  const bad =
    method.family === 'q'
      ? kernels.searchBlocks(bits, manner.codes, halves)
      : kernels.searchSupers(bits, manner.codes, tile, halves, subScales)
  if (bad >= 0) refuseBlock(matrix, tile, bad)
  if (manner.importance) {
    const weighted = { values: tile.values, shape: tile, weights: weightsOf(manner.importance, tile) }
    if (method.family === 'q') reweighBlocks(bits, manner.codes, weighted, halves)
    else reweighSupers(bits, manner.codes, weighted, halves, subScales)
  }
  kernels.encode(bits, manner.codes, blockScales(method, tile.perRow, halves, subScales), codes)
  return piece
}

/** The weights of a tile's columns, zeros for the padding. */
function weightsOf(importance: Float32Array, { firstColumn, perRow }: Tile): Float32Array {
  const weights = new Float32Array(perRow * blockValues)
  weights.set(importance.subarray(firstColumn, firstColumn + weights.length))
  return weights
}

function blockScales(method: Method, perRow: number, halves: Uint16Array, subScales: Uint8Array): Float32Array {
  const scales = new Float32Array(subScales.length)
  if (method.family === 'q') expandBlocks(halves, scales)
  else expandSupers(perRow, halves, subScales, scales)
  return scales
}

/** Codes from the scales of an earlier pass. */
function encodeTile(job: Job, tile: Tile, head: Uint8Array, room: Piece): Uint8Array {
  const { kernels, layout, matrix, method, manner } = job
  const { halves, subScales, codes } = cut(room, job, tile)
  const first = firstHalf(job, tile)
  halves.set(viewOf(Uint16Array, head.subarray(2 * first), halves.length))
  if (method.family === 'k')
    subScales.set(head.subarray(layout.subScalesOffset + tile.firstBlock).subarray(0, subScales.length))
  loadTile(kernels, matrix, tile)
  kernels.encode(method.bits as CodeBits, manner.codes, blockScales(method, tile.perRow, halves, subScales), codes)
  return codes
}

/** The index of the first scale (q*) or super-scale (k*) of a tile. */
function firstHalf({ layout, method }: Job, { firstBlock, firstRow, firstColumn }: Tile): number {
  if (method.family === 'q') return firstBlock
  return firstRow * layout.supersPerRow + firstColumn / (blockValues * superBlocks)
}

function putScales(job: Job, tile: Tile, { halves, subScales }: Piece, head: Uint8Array): void {
  const at = head.subarray(2 * firstHalf(job, tile))
  fillView(Uint16Array, at, halves.length, (view) => view.set(halves))
  if (job.method.family === 'k') head.set(subScales, job.layout.subScalesOffset + tile.firstBlock)
}

function littleEndian(halves: Uint16Array): Uint8Array {
  const bytes = new Uint8Array(halves.byteLength)
  fillView(Uint16Array, bytes, halves.length, (view) => view.set(halves))
  return bytes
}
