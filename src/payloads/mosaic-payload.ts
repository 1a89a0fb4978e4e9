// A tensor that is stored in tiles: boxes that cover it without gaps or overlaps, each with its elements in row-major order. A checkpoint
// that many machines wrote together has such tensors. The elements are put into the order of the whole tensor a band at a time, from
// any place on, so that memory stays bounded whatever the size.
import { checkAborted, checkRange, joinBytes } from '../bytes/index.js'
import { lowerBound } from '../bytes/lower-bound.js'
import { lazyPayload, type Payload } from '../model/payload.js'
import { type Band, bandsOf, stridesOf } from './bands.js'

/** A box of a tensor. */
export interface Tile {
  readonly offsets: readonly number[]
  readonly sizes: readonly number[]
}

/** A tile with its elements, which can be read in any order. */
export interface StoredTile extends Tile {
  read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array>
}

/** How many bytes are put together at a time. */
const bandBytes = 1 << 23

/** The tiles were checked to cover the shape exactly; `size` is that of an element in bytes. */
export function mosaicPayload(
  name: string,
  shape: readonly number[],
  size: number,
  tiles: readonly StoredTile[],
): Payload {
  const total = shape.reduce((all, dim) => all * dim, size)
  const sorted = tiles.filter((tile) => !tile.sizes.includes(0)).sort((a, b) => firstRow(a) - firstRow(b))
  let reach = 0
  const reaches = sorted.map((tile) => (reach = Math.max(reach, endRow(tile))))
  const mosaic: Mosaic = { name, shape, size, tiles: sorted, reaches }
  return sectionOf(mosaic, 0, total)
}

interface Mosaic {
  readonly name: string
  readonly shape: readonly number[]
  readonly size: number
  /** By their first row. */
  readonly tiles: readonly StoredTile[]
  /** For each tile the largest end row of it and all before it. */
  readonly reaches: readonly number[]
}

const firstRow = ({ offsets }: Tile): number => offsets[0] ?? 0
const endRow = ({ offsets, sizes }: Tile): number => (offsets[0] ?? 0) + (sizes[0] ?? 1)

/** Bytes of the whole tensor from `start` on. */
function sectionOf(mosaic: Mosaic, start: number, byteLength: number): Payload {
  const place = { name: mosaic.name, size: byteLength }
  return {
    ...lazyPayload(byteLength, (signal) => produce(mosaic, start, byteLength, signal)),
    slices: {
      unit: 1,
      take(offset, length) {
        checkRange(place, offset, length)
        return sectionOf(mosaic, start + offset, length)
      },
    },
    async read(offset, length, signal) {
      checkRange(place, offset, length)
      const pieces: Uint8Array[] = []
      for await (const piece of produce(mosaic, start + offset, length, signal)) pieces.push(piece)
      return pieces.length === 1 ? pieces[0]! : joinBytes(pieces)
    },
  }
}

/** Whole elements are put together; what sticks out at both ends is cut off. */
async function* produce(
  mosaic: Mosaic,
  start: number,
  length: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, void> {
  if (length === 0) return
  const { size, shape } = mosaic
  const end = start + length
  const max = Math.max(1, Math.floor(bandBytes / size))
  for (const band of bandsOf(shape, Math.floor(start / size), Math.ceil(end / size), max)) {
    checkAborted(signal, mosaic.name)
    const bytes = await fillBand(mosaic, band, signal)
    const at = band.first * size
    yield bytes.subarray(Math.max(0, start - at), Math.min(bytes.byteLength, end - at))
  }
}

/** A band meets a tile in one run of the tile's elements, because the band has everything of its inner axes. */
async function fillBand(mosaic: Mosaic, band: Band, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const { size, tiles, reaches } = mosaic
  const length = band.sizes.reduce((all, dim) => all * dim, size)
  let target: Uint8Array | undefined
  for (let i = lowerBound(tiles.length, (k) => reaches[k]!, firstRow(band) + 1); i < tiles.length; i++) {
    const tile = tiles[i]!
    if (firstRow(tile) >= endRow(band)) break
    const common = intersect(band, tile)
    if (!common) continue
    const count = common.sizes.reduce((all, dim) => all * dim, 1)
    const bytes = await tile.read(placeIn(tile, common.offsets) * size, count * size, signal)
    if (bytes.byteLength === length) return bytes
    target ??= new Uint8Array(length)
    copyBox(bytes, common.sizes, target, placeIn(band, common.offsets) * size, stridesOf(band.sizes), size)
  }
  return target ?? new Uint8Array(length)
}

function intersect(a: Tile, b: Tile): Tile | undefined {
  const offsets = a.offsets.map((offset, i) => Math.max(offset, b.offsets[i]!))
  const sizes = a.offsets.map((offset, i) => Math.min(offset + a.sizes[i]!, b.offsets[i]! + b.sizes[i]!) - offsets[i]!)
  return sizes.some((dim) => dim <= 0) ? undefined : { offsets, sizes }
}

/** The number of an element inside a box. */
function placeIn({ offsets, sizes }: Tile, at: readonly number[]): number {
  return at.reduce((place, index, i) => place * sizes[i]! + index - offsets[i]!, 0)
}

/** Puts a box without gaps, `bytes`, at `at` of a larger one with these strides. */
function copyBox(
  bytes: Uint8Array,
  sizes: readonly number[],
  target: Uint8Array,
  at: number,
  strides: readonly number[],
  size: number,
): void {
  // Inner axes that run on in both are one run.
  let inner = sizes.length
  let run = size
  while (inner > 0 && strides[inner - 1]! * size === run) {
    run *= sizes[inner - 1]!
    inner--
  }
  let from = 0
  const copy = (axis: number, to: number): void => {
    if (axis === inner) {
      target.set(bytes.subarray(from, from + run), to)
      from += run
      return
    }
    for (let i = 0; i < sizes[axis]!; i++) copy(axis + 1, to + i * strides[axis]! * size)
  }
  copy(0, at)
}
