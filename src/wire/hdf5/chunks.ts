// The chunks of a dataset: boxes of equal shape that cover it, each packed by itself. Those at the edge reach over it.
import type { Cursor } from '../../bytes/index.js'
import { walkTree } from './btree.js'
import { hdf5Codes as codes } from './codes.js'
import type { Hdf5File } from './file.js'
import type { StatedLayout } from './layout.js'

export interface Chunk {
  /** Where it begins in the dataset. */
  readonly offsets: readonly number[]
  /** Where its bytes are in the file, as they are stored. */
  readonly offset: number
  readonly size: number
  /** A bit for each filter that was left out. */
  readonly mask: number
}

type Chunked = Extract<StatedLayout, { kind: 'chunked' }>

export interface ChunkedShape extends Chunked {
  readonly shape: readonly number[]
  readonly maxShape: readonly number[]
  readonly isFiltered: boolean
  /** Bytes of a chunk before packing. */
  readonly chunkBytes: number
}

/** All chunks, each once and inside the file. The count was compared with what the shape needs. */
export async function readChunks(file: Hdf5File, layout: ChunkedShape, path: string, offset: number): Promise<Chunk[]> {
  const { shape, chunk } = layout
  const counts = shape.map((dim, axis) => Math.ceil(dim / chunk[axis]!))
  const needed = counts.reduce((all, count) => all * count, 1)
  if (needed === 0) return []
  const { index } = layout
  const wrong = (message: string): never => file.report.fail(codes.chunks, { offset, path, message })
  const { address } = index
  if (address === undefined)
    return file.report.fail(codes.unwritten, { offset, path, message: `none of ${needed} chunks is there` })
  // Each has an entry of its own, or bytes of its own, in the file.
  if (needed > file.size) wrong(`${needed} chunks do not fit into a file of ${file.size} bytes`)
  file.takeChunks(needed, offset, path)
  const found: Chunk[] = []
  const seen = new Set<string>()
  const add = (offsets: readonly number[], start: number, size: number, mask: number, at: number): void => {
    const isPlaced = offsets.every((each, axis) => each % chunk[axis]! === 0 && each < shape[axis]!)
    if (!isPlaced || seen.size === seen.add(offsets.join()).size) wrong(`a chunk at [${offsets.join(', ')}]`)
    if (!layout.isFiltered && size !== layout.chunkBytes) wrong(`a chunk of ${size} bytes, not ${layout.chunkBytes}`)
    const place = file.place(start, size, { offset: at, path })
    file.claim(start, size, `${path}.chunks[${found.length}]`)
    found.push({ offsets, offset: place, size, mask })
  }
  if (index.kind === 'tree') await readTree(file, layout, address, path, add)
  else if (index.kind === 'single') {
    if (needed !== 1) wrong(`one chunk of ${needed}`)
    add(
      shape.map(() => 0),
      address,
      index.size ?? layout.chunkBytes,
      index.mask ?? 0,
      offset,
    )
  } else if (index.kind === 'implicit') {
    const all = offsetsOf(counts, chunk, needed)
    for (const [i, offsets] of [...all].entries())
      add(offsets, address + i * layout.chunkBytes, layout.chunkBytes, 0, offset)
  } else await readFixedArray(file, layout, { address, pageBits: index.pageBits }, path, add)
  if (found.length !== needed) {
    const message = `${found.length} of ${needed} chunks are there`
    file.report.fail(found.length < needed ? codes.unwritten : codes.chunks, { offset, path, message })
  }
  return found
}

type Add = (offsets: readonly number[], address: number, size: number, mask: number, at: number) => void

async function readTree(
  file: Hdf5File,
  { shape, isFiltered, chunkBytes }: ChunkedShape,
  root: number,
  path: string,
  add: Add,
): Promise<void> {
  const rank = shape.length
  const kind = {
    type: 1,
    keySize: 8 + 8 * (rank + 1),
    readKey(cursor: Cursor) {
      const size = cursor.u32('size')
      const mask = cursor.u32('filter_mask')
      const offsets = shape.map((_, axis) => file.length(cursor, `offsets[${axis}]`, 8))
      cursor.raw(8, 'element')
      return { size, mask, offsets }
    },
  } as const
  await walkTree(file, root, kind, `${path}.tree`, ({ size, mask, offsets }, address, at) =>
    add(offsets, address, isFiltered ? size : chunkBytes, mask, at),
  )
}

/** Chunks are listed in row order of all that the dataset has when it has grown; filtered ones with their sizes. */
async function readFixedArray(
  file: Hdf5File,
  { isFiltered, chunkBytes, chunk, maxShape }: ChunkedShape,
  index: { readonly address: number; readonly pageBits: number },
  path: string,
  add: Add,
): Promise<void> {
  const counts = maxShape.map((dim, axis) => Math.ceil(dim / chunk[axis]!))
  const { offsetSize, lengthSize } = file
  const head = await file.cursor(index.address, 8 + lengthSize + offsetSize + 4, `${path}.array`)
  file.signature(head, 'FAHD')
  file.version(head, [0])
  head.u8('client')
  const entrySize = head.u8('entry_size')
  head.u8('page_bits')
  const count = file.length(head, 'count')
  const address = file.neededAddress(head, 'block')
  file.checksum(head)
  const details = { offset: file.base + index.address, path: `${path}.array` }
  const sizeBytes = isFiltered ? entrySize - offsetSize - 4 : 0
  const needed = counts.reduce((all, each) => all * each, 1)
  if (count !== needed || entrySize !== offsetSize + (isFiltered ? sizeBytes + 4 : 0) || sizeBytes < 0 || sizeBytes > 8)
    file.report.fail(codes.structure, { ...details, message: `an array of ${count} entries of ${entrySize} bytes` })
  if (count > 2 ** index.pageBits)
    file.report.fail(codes.unsupported, {
      ...details,
      message: 'an array of chunks in pages; write the file again with h5repack',
    })
  const block = await file.cursor(address, 6 + offsetSize + count * entrySize + 4, `${path}.array.block`)
  file.signature(block, 'FADB')
  file.version(block, [0])
  block.u8('client')
  file.address(block, 'header')
  for (let i = 0; i < count; i++) {
    const { offset } = block
    block.enter('entries', i)
    const at = file.address(block, 'address')
    const size = isFiltered ? file.length(block, 'size', sizeBytes) : chunkBytes
    const mask = isFiltered ? block.u32('filter_mask') : 0
    block.leave(2)
    if (at !== undefined) add(offsetsAt(counts, chunk, i), at, size, mask, offset)
  }
  file.checksum(block)
}

function* offsetsOf(counts: readonly number[], chunk: readonly number[], needed: number): Generator<number[]> {
  for (let i = 0; i < needed; i++) yield offsetsAt(counts, chunk, i)
}

/** Where the chunk with this number begins, in row order. */
function offsetsAt(counts: readonly number[], chunk: readonly number[], number: number): number[] {
  const offsets: number[] = []
  let rest = number
  for (let axis = counts.length - 1; axis >= 0; axis--) {
    offsets[axis] = (rest % counts[axis]!) * chunk[axis]!
    rest = Math.floor(rest / counts[axis]!)
  }
  return offsets
}
