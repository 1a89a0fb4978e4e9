// Where the data of a dataset are, and what was done to them.
import type { Cursor } from '../../bytes/index.js'
import { hdf5Codes as codes } from './codes.js'
import { type Hdf5File, numberIn } from './file.js'
import { fieldsOf, type Message } from './object.js'

/** How the chunks of a dataset are listed. */
export type ChunkIndex =
  | { readonly kind: 'tree'; readonly address: number | undefined }
  | { readonly kind: 'single'; readonly address: number | undefined; readonly size?: number; readonly mask?: number }
  | { readonly kind: 'implicit'; readonly address: number | undefined }
  | { readonly kind: 'fixed-array'; readonly address: number | undefined; readonly pageBits: number }

export type StatedLayout =
  /** Where in the file; the bytes are part of the header. */
  | { readonly kind: 'compact'; readonly offset: number; readonly length: number }
  | { readonly kind: 'contiguous'; readonly address: number | undefined; readonly length: number | undefined }
  | {
      readonly kind: 'chunked'
      readonly chunk: readonly number[]
      readonly elementSize: number
      readonly index: ChunkIndex
      /** Chunks that reach over the edge are stored without filters. */
      readonly plainEdges: boolean
    }

export function readLayout(file: Hdf5File, message: Message): StatedLayout {
  const cursor = fieldsOf(file, message)
  // Version 5, of HDF5 2.0, only lets sizes of chunks be wider, and says how wide they are where they stand.
  const version = file.version(cursor, [1, 2, 3, 4, 5], 'version')
  return version < 3 ? readOldLayout(file, cursor) : readNewLayout(file, cursor, version)
}

function readOldLayout(file: Hdf5File, cursor: Cursor): StatedLayout {
  const rank = cursor.u8('rank')
  const kind = cursor.u8('class')
  cursor.raw(5, 'reserved')
  const address = kind === 0 ? undefined : file.address(cursor, 'address')
  const dims = Array.from({ length: rank }, (_, i) => cursor.u32(`dims[${i}]`))
  if (kind === 1) return { kind: 'contiguous', address, length: undefined }
  if (kind === 0) return compact(cursor, cursor.u32('size'))
  if (kind === 2) return chunked(file, cursor, dims, { kind: 'tree', address })
  return other(file, cursor, kind)
}

function readNewLayout(file: Hdf5File, cursor: Cursor, version: number): StatedLayout {
  const kind = cursor.u8('class')
  if (kind === 0) return compact(cursor, cursor.u16('size'))
  if (kind === 1) {
    const address = file.address(cursor, 'address')
    return { kind: 'contiguous', address, length: file.length(cursor, 'size') }
  }
  if (kind !== 2) return other(file, cursor, kind)
  if (version === 3) {
    const rank = cursor.u8('rank')
    const address = file.address(cursor, 'address')
    const dims = Array.from({ length: rank }, (_, i) => cursor.u32(`dims[${i}]`))
    return chunked(file, cursor, dims, { kind: 'tree', address })
  }
  const flags = cursor.u8('flags')
  const rank = cursor.u8('rank')
  const width = cursor.u8('dims_width')
  const details = { offset: cursor.offset, path: cursor.pathOf('dims') }
  if (width < 1 || width > 8) file.report.fail(codes.layout, { ...details, message: `dimensions of ${width} bytes` })
  const dims = Array.from({ length: rank }, (_, i) => file.length(cursor, `dims[${i}]`, width))
  return chunked(file, cursor, dims, readIndex(file, cursor, flags), (flags & 1) !== 0)
}

const compact = (cursor: Cursor, length: number): StatedLayout => {
  const { offset } = cursor
  cursor.raw(length, 'data')
  return { kind: 'compact', offset, length }
}

/** The last of the dimensions is the size of an element. */
function chunked(
  file: Hdf5File,
  cursor: Cursor,
  dims: readonly number[],
  index: ChunkIndex,
  plainEdges = false,
): StatedLayout {
  const [chunk, elementSize] = [dims.slice(0, -1), dims.at(-1)]
  if (elementSize !== undefined && chunk.length > 0 && !dims.includes(0))
    return { kind: 'chunked', chunk, elementSize, index, plainEdges }
  const details = { offset: cursor.offset, path: cursor.pathOf('dims') }
  return file.report.fail(codes.layout, { ...details, message: `chunks of [${dims.join(', ')}]` })
}

function readIndex(file: Hdf5File, cursor: Cursor, flags: number): ChunkIndex {
  const { offset } = cursor
  const kind = cursor.u8('index')
  if (kind === 1) {
    const isFiltered = (flags & 2) !== 0
    const filtered = isFiltered ? { size: file.length(cursor, 'size'), mask: cursor.u32('filter_mask') } : {}
    return { kind: 'single', ...filtered, address: file.address(cursor, 'address') }
  }
  if (kind === 2) return { kind: 'implicit', address: file.address(cursor, 'address') }
  if (kind === 3) {
    const pageBits = cursor.u8('page_bits')
    return { kind: 'fixed-array', pageBits, address: file.address(cursor, 'address') }
  }
  const names = new Map([
    [4, 'an extensible array'],
    [5, 'a B-tree of version 2'],
  ])
  const message = `its chunks are listed in ${names.get(kind) ?? `an index of type ${kind}`}; write the file again with h5repack`
  return file.report.fail(codes.unsupported, { offset, path: cursor.pathOf('index'), message })
}

function other(file: Hdf5File, cursor: Cursor, kind: number): never {
  const what = kind === 3 ? 'its data are put together from other datasets' : `its layout is of class ${kind}`
  return file.report.fail(codes.unsupported, { offset: cursor.offset, path: cursor.pathOf('class'), message: what })
}

export type Filter = 'deflate' | 'shuffle' | 'fletcher32'

const filters = new Map<number, Filter>([
  [1, 'deflate'],
  [2, 'shuffle'],
  [3, 'fletcher32'],
])
const known = new Map([
  [4, 'szip'],
  [5, 'n-bit'],
  [6, 'scale-offset'],
  [32000, 'LZF'],
  [32001, 'Blosc'],
  [32004, 'LZ4'],
  [32008, 'bitshuffle'],
  [32013, 'ZFP'],
  [32015, 'Zstandard'],
])

/** In the order in which they were applied. */
export function readFilters(file: Hdf5File, message: Message): Filter[] {
  const cursor = fieldsOf(file, message)
  const version = file.version(cursor, [1, 2])
  const count = cursor.u8('count')
  if (version === 1) cursor.raw(6, 'reserved')
  const found: Filter[] = []
  for (let i = 0; i < count; i++) {
    cursor.enter('filters', i)
    const { offset } = cursor
    const id = cursor.u16('id')
    const nameLength = version === 1 || id >= 256 ? cursor.u16('name_length') : 0
    cursor.u16('flags')
    const values = cursor.u16('value_count')
    cursor.raw(version === 1 ? Math.ceil(nameLength / 8) * 8 : nameLength, 'name')
    cursor.raw(4 * (version === 1 ? values + (values % 2) : values), 'values', (bytes) =>
      numberIn(bytes.subarray(0, 8)),
    )
    const filter = filters.get(id)
    if (!filter) {
      const name = known.get(id) ?? `filter ${id}`
      const hint = 'write the file again with `h5repack -f GZIP=4`, or without a filter'
      const details = { offset, path: cursor.pathOf('id'), message: `its data are packed with ${name}; ${hint}` }
      return file.report.fail(codes.unsupported, details)
    }
    found.push(filter)
    cursor.leave(2)
  }
  return found
}
