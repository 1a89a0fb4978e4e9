// Many links or attributes of one object: messages in a fractal heap, listed by a B-tree of version 2. The heap is a sequence of blocks that
// double in size; a place in it is found by following its rows.
import { type Cursor, isPowerOfTwo } from '../../bytes/index.js'
import { hdf5Codes as codes } from './codes.js'
import { type Hdf5File, numberIn } from './file.js'
import type { Message } from './object.js'

interface RecordKind {
  /** The type of the tree's records. */
  readonly type: 5 | 8
  /** Where in a record the heap's id is. */
  readonly idOffset: number
  readonly idLength: number
}

export async function readDense(
  file: Hdf5File,
  heapAddress: number,
  treeAddress: number,
  kind: RecordKind,
  path: string,
): Promise<Message[]> {
  const heap = await FractalHeap.read(file, heapAddress, `${path}.heap`)
  const messages: Message[] = []
  await walkRecords(file, treeAddress, kind.type, `${path}.names`, async (record, offset) => {
    const id = record.subarray(kind.idOffset, kind.idOffset + kind.idLength)
    const found = await heap.object(id, offset)
    const name = kind.type === 5 ? 'link' : 'attribute'
    messages.push({ name, isShared: false, ...found, path: `${path}.heap[${messages.length}]` })
  })
  return messages
}

class FractalHeap {
  readonly #file: Hdf5File
  readonly #path: string
  readonly #fields: HeapFields
  readonly #lengthBytes: number
  readonly #claimed = new Set<number>()

  private constructor(file: Hdf5File, path: string, fields: HeapFields) {
    this.#file = file
    this.#path = path
    this.#fields = fields
    this.#lengthBytes = bytesFor(Math.min(fields.maxDirect, fields.maxManaged))
  }

  static async read(file: Hdf5File, address: number, path: string): Promise<FractalHeap> {
    const { offsetSize, lengthSize, report } = file
    const cursor = await file.cursor(address, 22 + 12 * lengthSize + 3 * offsetSize + 4, path)
    file.signature(cursor, 'FRHP')
    file.version(cursor, [0])
    cursor.u16('id_length')
    const details = { offset: cursor.offset, path }
    if (cursor.u16('filter_length') > 0) report.fail(codes.unsupported, { ...details, message: 'a heap with filters' })
    cursor.u8('flags')
    const maxManaged = cursor.u32('max_managed')
    cursor.raw(lengthSize, 'next_huge_id')
    file.address(cursor, 'huge_tree')
    cursor.raw(lengthSize, 'free_space')
    file.address(cursor, 'free_space_manager')
    for (const field of ['space', 'allocated', 'iterator', 'count']) cursor.raw(lengthSize, `managed_${field}`)
    for (const field of ['huge_size', 'huge_count', 'tiny_size', 'tiny_count']) cursor.raw(lengthSize, field)
    const width = cursor.u16('table_width')
    const startSize = file.length(cursor, 'start_size')
    const maxDirect = file.length(cursor, 'max_direct_size')
    const offsetBytes = Math.ceil(cursor.u16('max_heap_bits') / 8)
    cursor.u16('start_rows')
    const root = file.neededAddress(cursor, 'root')
    const rows = cursor.u16('root_rows')
    file.checksum(cursor)
    const isSound = [width, startSize, maxDirect].every(isPowerOfTwo) && maxDirect >= startSize && offsetBytes <= 8
    if (!isSound) report.fail(codes.structure, { ...details, message: 'the sizes of the heap do not hold together' })
    return new FractalHeap(file, path, { root, rows, width, startSize, maxDirect, maxManaged, offsetBytes })
  }

  /** What an id stands for. */
  async object(id: Uint8Array, at: number): Promise<{ readonly data: Uint8Array; readonly offset: number }> {
    const { offsetBytes } = this.#fields
    const file = this.#file
    const details = { offset: at, path: this.#path }
    if (id[0]! & 0x30)
      file.report.fail(codes.unsupported, { ...details, message: 'an object outside the blocks of the heap' })
    const place = numberIn(id.subarray(1, 1 + offsetBytes))
    const length = numberIn(id.subarray(1 + offsetBytes, 1 + offsetBytes + this.#lengthBytes))!
    const block = place === undefined ? undefined : await this.#find(place)
    if (!block || place! + length > block.start + block.size)
      return file.report.fail(codes.structure, { ...details, message: 'an object lies outside the heap' })
    const address = block.address + (place! - block.start)
    const data = (await file.bytes(address, length, this.#path)).slice()
    return { data, offset: file.base + address }
  }

  /** The block that holds a place. */
  async #find(place: number): Promise<HeapBlock | undefined> {
    const { root, rows, startSize } = this.#fields
    const found = rows === 0 ? { address: root, start: 0, size: startSize } : await this.#below(root, rows, 0, place, 0)
    if (!found || place >= found.start + found.size) return undefined
    this.#claim(found)
    return found
  }

  /** Rows have `width` blocks each; the first two have the smallest size, and from there on each has twice that of the one before. */
  async #below(
    address: number,
    rows: number,
    start: number,
    place: number,
    depth: number,
  ): Promise<HeapBlock | undefined> {
    const file = this.#file
    const { width, startSize, maxDirect, offsetBytes } = this.#fields
    const sizeOf = (row: number): number => startSize * 2 ** Math.max(0, row - 1)
    const directRows = Math.log2(maxDirect / startSize) + 2
    let at = start
    for (let row = 0; row < rows; row++) {
      const size = sizeOf(row)
      if (place >= at + width * size) {
        at += width * size
        continue
      }
      const column = Math.floor((place - at) / size)
      const head = 5 + file.offsetSize + offsetBytes
      const entry = head + (row * width + column) * file.offsetSize
      const bytes = await file.bytes(address, entry + file.offsetSize, this.#path)
      if (!this.#claimed.has(address)) {
        this.#claimed.add(address)
        const cursor = await file.cursor(address, head + rows * width * file.offsetSize + 4, this.#path)
        file.signature(cursor, 'FHIB')
        cursor.raw(cursor.remaining - 4, 'blocks')
        file.checksum(cursor)
      }
      const child = numberIn(bytes.subarray(entry, entry + file.offsetSize))
      if (child === undefined) return undefined
      const first = at + column * size
      if (row < directRows) return { address: child, start: first, size }
      if (depth > 8) return undefined
      const childRows = Math.log2(size / (startSize * width)) + 1
      return this.#below(child, childRows, first, place, depth + 1)
    }
    return undefined
  }

  #claim({ address, size }: HeapBlock): void {
    if (this.#claimed.has(address)) return
    this.#claimed.add(address)
    const file = this.#file
    const offset = file.place(address, size, { offset: file.base + Math.min(address, file.size), path: this.#path })
    file.claim(address, size, this.#path)
    const path = `${this.#path}.block`
    file.context.extents?.add({ file: file.report.file, offset, length: size, path, kind: 'field' })
  }
}

interface HeapFields {
  readonly root: number
  readonly rows: number
  readonly width: number
  readonly startSize: number
  readonly maxDirect: number
  readonly maxManaged: number
  readonly offsetBytes: number
}

interface HeapBlock {
  readonly address: number
  /** Its place in the heap. */
  readonly start: number
  readonly size: number
}

const bytesFor = (limit: number): number => Math.floor(Math.log2(Math.max(1, limit)) / 8) + 1

async function walkRecords(
  file: Hdf5File,
  address: number,
  type: number,
  path: string,
  visit: (record: Uint8Array, offset: number) => Promise<void>,
): Promise<void> {
  const head = await file.cursor(address, 16 + file.offsetSize + 2 + file.lengthSize + 4, path)
  file.signature(head, 'BTHD')
  file.version(head, [0])
  const found = head.u8('type')
  const nodeSize = head.u32('node_size')
  const recordSize = head.u16('record_size')
  const depth = head.u16('depth')
  head.raw(2, 'split_merge')
  const root = file.address(head, 'root')
  const count = head.u16('root_count')
  file.length(head, 'total')
  file.checksum(head)
  const details = { offset: file.base + address, path }
  if (found !== type || recordSize < 11 || depth > 16 || nodeSize < recordSize + 10)
    file.report.fail(codes.structure, {
      ...details,
      message: `a tree of type ${found} with records of ${recordSize} bytes`,
    })
  if (root === undefined || count === 0) return
  const tree = { nodeSize, recordSize, type, limits: limitsOf(nodeSize, recordSize, file.offsetSize, depth) }
  const seen = new Set<number>()
  const walk = async (at: number, level: number, records: number): Promise<void> => {
    const place = { offset: file.base + at, path }
    if (seen.has(at)) file.report.fail(codes.structure, { ...place, message: 'a tree contains a node twice' })
    seen.add(at)
    const { countBytes, totalBytes } = tree.limits[level]!
    const pointer = level === 0 ? 0 : file.offsetSize + countBytes + totalBytes
    const length = 6 + records * recordSize + (level === 0 ? 0 : (records + 1) * pointer) + 4
    const cursor = await file.cursor(at, length, path)
    file.signature(cursor, level === 0 ? 'BTLF' : 'BTIN')
    file.version(cursor, [0])
    cursor.u8('type')
    for (let i = 0; i < records; i++) {
      const { offset } = cursor
      await visit(cursor.raw(recordSize, `records[${i}]`).slice(), offset)
    }
    for (let i = 0; level > 0 && i <= records; i++) await walk(...child(file, cursor, i, countBytes, totalBytes, level))
    file.checksum(cursor)
  }
  await walk(root, depth, count)
}

function child(
  file: Hdf5File,
  cursor: Cursor,
  i: number,
  countBytes: number,
  totalBytes: number,
  level: number,
): [number, number, number] {
  cursor.enter('children', i)
  const address = file.neededAddress(cursor, 'address')
  const records = file.length(cursor, 'count', countBytes)
  if (totalBytes > 0) cursor.raw(totalBytes, 'total')
  cursor.leave(2)
  return [address, level - 1, records]
}

interface LevelLimits {
  /** The width of the number of records in a node of the level below. */
  readonly countBytes: number
  /** The width of the number of records in that node and all below it. */
  readonly totalBytes: number
}

/** The widths of numbers follow from how many records a node can have. */
function limitsOf(nodeSize: number, recordSize: number, offsetSize: number, depth: number): LevelLimits[] {
  const leaf = Math.floor((nodeSize - 10) / recordSize)
  const countBytes = bytesFor(leaf)
  const limits: LevelLimits[] = [{ countBytes: 0, totalBytes: 0 }]
  let below = leaf
  for (let level = 1; level <= depth; level++) {
    const totalBytes = level === 1 ? 0 : bytesFor(below)
    limits.push({ countBytes, totalBytes })
    const pointer = offsetSize + countBytes + totalBytes
    const records = Math.floor((nodeSize - 10 - pointer) / (recordSize + pointer))
    below = (records + 1) * below + records
  }
  return limits
}
