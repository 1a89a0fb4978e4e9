// Quantizes on several threads. No block or super-block crosses the end of a row, so a band of rows can be quantized on its own; the result
// has the same regions as the whole, and each is copied to its place. The bytes do not depend on the bands.
import { alignUp } from '../../bytes/index.js'
import { type BlockLayout, blockLayout, type Method } from '../../dtypes/mcf/layout.js'
import { lazyPayload, type Payload, type Tensor, type TensorRecipe } from '../../model/index.js'
import { tensorRecipe } from '../../model/model.js'
import { recipeOf } from '../../model/payload.js'
import { fillWindows, type Job, type WorkerPool } from '../../threads/index.js'
import { fileOf } from '../map-elements.js'
import type { BlockLimits, Manner } from './blocks.js'
import { inOnePiece, maxScales, maxWhole } from './blocks.js'
import { type MakeRows, type RegionName, regionSlices, regionsOf } from './regions.js'
import type { Clip } from './tiles.js'

/** Values in a band: at least a few milliseconds of work, and no more memory than a window. */
const minValues = 1 << 18
const maxValues = 1 << 20

/** What a thread needs to quantize a band. */
export interface BandData {
  readonly tensor: TensorRecipe
  readonly method: string
  readonly manner: Manner
  readonly clip: Clip | undefined
  readonly firstRow: number
  readonly rows: number
  /** Everything; or only the scales in a first pass, and only the codes in a second one. */
  readonly want: 'all' | 'scales' | 'codes'
  /** The scales that the first pass found. */
  readonly head?: Uint8Array | undefined
}

interface Bands {
  readonly tensor: TensorRecipe
  readonly method: Method
  readonly layout: BlockLayout
  readonly manner: Manner
  readonly clip: Clip | undefined
  readonly rowsPerBand: number
  /** Bands begin at multiples of this. */
  readonly rowUnit: number
  readonly file: string
  readonly pool: WorkerPool
}

interface Band {
  readonly firstRow: number
  readonly layout: BlockLayout
}

export interface BandOptions {
  readonly manner: Manner
  readonly clip: Clip | undefined
  readonly limits?: BlockLimits | undefined
  readonly pool: WorkerPool
}

/** Undefined if other threads cannot read the values, or there are too few to share. */
export function bandPayload(
  method: Method,
  layout: BlockLayout,
  tensor: Tensor,
  values: Payload,
  { manner, clip, limits = {}, pool }: BandOptions,
): Payload | undefined {
  const { rows, columns, byteLength, codesOffset } = layout
  const recipe = recipeOf(values) && tensorRecipe(tensor)
  if (!recipe || !values.slices || codesOffset > (limits.scales ?? maxScales)) return undefined
  const unit = rowsPerUnit(columns, values.slices.unit)
  const share = (rows * columns) / (2 * pool.threads)
  const wanted = Math.min(Math.max(share, minValues), maxValues)
  const rowsPerBand = Math.max(1, Math.round(wanted / columns / unit)) * unit
  if (rows < 2 * rowsPerBand) return undefined
  const file = fileOf(tensor.data)
  const bands: Bands = { tensor: recipe, method, layout, manner, clip, rowsPerBand, rowUnit: unit, file, pool }
  const isWhole = byteLength <= (limits.whole ?? maxWhole)
  const made = lazyPayload(byteLength, (signal) =>
    isWhole ? inOnePiece(layout, (bytes) => fillWhole(bands, bytes, signal)) : scalesFirst(bands, signal),
  )
  const makeRows: MakeRows = (...asked) => regionOfBands(bands, ...asked)
  return { ...made, isMadeElsewhere: true, slices: regionSlices(method, layout, makeRows) }
}

/** The smallest number of rows of f32 values that ends at a unit. */
function rowsPerUnit(columns: number, unit: number): number {
  let [a, b] = [columns * 4, unit]
  while (b > 0) [a, b] = [b, a % b]
  return unit / a
}

async function fillWhole(bands: Bands, bytes: Uint8Array, signal?: AbortSignal): Promise<void> {
  const { layout } = bands
  for await (const [band, made] of run(bands, 'all', signal)) {
    putScales(bands, band, made, bytes)
    bytes.set(made.subarray(band.layout.codesOffset), layout.codesOffset + firstBlock(bands, band) * layout.codeSize)
  }
}

async function* scalesFirst(bands: Bands, signal?: AbortSignal): AsyncGenerator<Uint8Array, void, void> {
  const head = new Uint8Array(bands.layout.codesOffset)
  for await (const [band, made] of run(bands, 'scales', signal)) putScales(bands, band, made, head)
  yield head
  for await (const [band, made] of run(bands, 'codes', signal, head)) yield made.subarray(band.layout.codesOffset)
}

/** What a region holds of some rows, and of some more behind them. */
async function* regionOfBands(
  bands: Bands,
  region: RegionName,
  firstRow: number,
  rows: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  const aligned = firstRow - (firstRow % bands.rowUnit)
  const list = bandsOf(bands, aligned, Math.min(bands.layout.rows, alignUp(firstRow + rows, bands.rowUnit)))
  for await (const [band, made] of run(bands, 'all', signal, undefined, list)) {
    const { start, perRow } = regionsOf(bands.method, band.layout).find(({ name }) => name === region)!
    const skip = Math.max(0, firstRow - band.firstRow)
    yield made.subarray(start + skip * perRow, start + band.layout.rows * perRow)
  }
}

async function* run(
  bands: Bands,
  want: BandData['want'],
  signal: AbortSignal | undefined,
  head?: Uint8Array,
  list: readonly Band[] = bandsOf(bands, 0, bands.layout.rows),
): AsyncGenerator<readonly [Band, Uint8Array], void, void> {
  const pieces = fillWindows(bands.pool, {
    count: list.length,
    lengthOf: (place) => list[place]!.layout[want === 'scales' ? 'codesOffset' : 'byteLength'],
    job: (place) => bandJob(bands, list[place]!, want, head),
    ahead: 2 * bands.pool.threads,
    signal,
  })
  let place = 0
  for await (const made of pieces) yield [list[place++]!, made]
}

function bandsOf({ method, layout: { columns }, rowsPerBand }: Bands, from: number, to: number): Band[] {
  const bands: Band[] = []
  for (let firstRow = from; firstRow < to; firstRow += rowsPerBand)
    bands.push({ firstRow, layout: blockLayout(method, [Math.min(rowsPerBand, to - firstRow), columns])! })
  return bands
}

function bandJob(bands: Bands, band: Band, want: BandData['want'], head: Uint8Array | undefined): Job {
  const { tensor, method, manner, clip, file } = bands
  const { firstRow, layout } = band
  const part = head && takeScales(bands, band, head)
  const data: BandData = { tensor, method: method.id, manner, clip, firstRow, rows: layout.rows, want, head: part }
  return { kind: 'quantize', data, file, offset: 0 }
}

const firstBlock = ({ layout }: Bands, band: Band): number => band.firstRow * layout.blocksPerRow

/** Where the scales of a band are in the whole and in the band, and their length. */
function* scalesOf(bands: Bands, band: Band): Generator<readonly [at: number, inBand: number, length: number]> {
  const { layout, method } = bands
  const perRow = method.family === 'q' ? layout.blocksPerRow : layout.supersPerRow
  yield [2 * band.firstRow * perRow, 0, 2 * band.layout.rows * perRow]
  if (method.family === 'k') {
    yield [layout.subScalesOffset + firstBlock(bands, band), band.layout.subScalesOffset, band.layout.blocks]
  }
}

function putScales(bands: Bands, band: Band, from: Uint8Array, to: Uint8Array): void {
  for (const [at, inBand, length] of scalesOf(bands, band)) to.set(from.subarray(inBand, inBand + length), at)
}

function takeScales(bands: Bands, band: Band, head: Uint8Array): Uint8Array {
  const part = new Uint8Array(band.layout.codesOffset)
  for (const [at, inBand, length] of scalesOf(bands, band)) part.set(head.subarray(at, at + length), inBand)
  return part
}
