// The members of a group, in the order of the file. Older groups have a tree of tables with names in a heap; newer ones a message for each
// link, or, when there are many, a heap of such messages.
import type { Cursor } from '../../bytes/index.js'
import { walkTree } from './btree.js'
import { hdf5Codes as codes } from './codes.js'
import { readDense } from './dense.js'
import type { Hdf5File } from './file.js'
import { checkedName, NameHeap } from './heaps.js'
import { fieldsOf, type Message, type ObjectHeader } from './object.js'

export interface Link {
  readonly name: string
  /** Where the object is; undefined for links that are not followed. */
  readonly address: number | undefined
  readonly offset: number
}

export const isGroup = (object: ObjectHeader): boolean =>
  ['symbolTable', 'linkInfo', 'link'].some((name) => object.find(name as 'link') !== undefined)

export async function linksOf(file: Hdf5File, object: ObjectHeader): Promise<Link[]> {
  const table = object.find('symbolTable')
  const links = table
    ? await readTable(file, table)
    : object.all('link').map((each) => readLink(file, fieldsOf(file, each)))
  const info = object.find('linkInfo')
  if (info) for (const each of await readInfo(file, info)) links.push(each)
  const names = new Set<string>()
  return links.filter(({ name, offset }) => {
    if (names.size < names.add(name).size) return true
    const message = `${JSON.stringify(name)} was there before`
    file.report.report(codes['duplicate-name'], { offset, path: object.path, message })
    return false
  })
}

const cachedLink = 2

async function readTable(file: Hdf5File, message: Message): Promise<Link[]> {
  const fields = fieldsOf(file, message)
  const tree = file.neededAddress(fields, 'tree')
  const heap = await NameHeap.read(file, file.neededAddress(fields, 'heap'), `${message.path}.heap`)
  const { offsetSize, lengthSize } = file
  const links: Link[] = []
  const kind = {
    type: 0,
    keySize: lengthSize,
    readKey: (cursor: Cursor) => void cursor.raw(lengthSize, 'key'),
  } as const
  const path = `${message.path}.table`
  const tables = new Set<number>()
  await walkTree(file, tree, kind, path, async (_key, address) => {
    const details = { offset: file.base + address, path }
    if (tables.has(address)) file.report.fail(codes.structure, { ...details, message: 'a table is listed twice' })
    tables.add(address)
    const head = await file.bytes(address, 8, path)
    const count = head[6]! + 256 * head[7]!
    const cursor = await file.cursor(address, 8 + count * (2 * offsetSize + 24), path)
    file.signature(cursor, 'SNOD')
    file.version(cursor, [1])
    cursor.raw(1, 'reserved')
    cursor.u16('count')
    for (let i = 0; i < count; i++) {
      const { offset } = cursor
      cursor.enter('symbols', i)
      const name = heap.name(file.length(cursor, 'name_offset', offsetSize), cursor.pathOf('name'))
      const target = file.address(cursor, 'address')
      const cached = cursor.u32('cache_type')
      cursor.raw(4, 'reserved')
      cursor.raw(16, 'scratch')
      cursor.leave(2)
      links.push({ name, address: cached === cachedLink ? undefined : target, offset })
    }
  })
  return links
}

const hardLink = 0

function readLink(file: Hdf5File, cursor: Cursor): Link {
  const { offset } = cursor
  file.version(cursor, [1])
  const flags = cursor.u8('flags')
  const kind = flags & 8 ? cursor.u8('type') : hardLink
  if (flags & 4) cursor.raw(8, 'order')
  if (flags & 0x10) cursor.u8('charset')
  const length = file.length(cursor, 'name_length', 2 ** (flags & 3))
  const name = checkedName(file, cursor.raw(length, 'name'), offset, cursor.pathOf('name'))
  return { name, address: kind === hardLink ? file.neededAddress(cursor, 'address') : undefined, offset }
}

async function readInfo(file: Hdf5File, message: Message): Promise<Link[]> {
  const cursor = fieldsOf(file, message)
  file.version(cursor, [0])
  const flags = cursor.u8('flags')
  if (flags & 1) cursor.raw(8, 'max_order')
  const heap = file.address(cursor, 'heap')
  const names = file.address(cursor, 'names')
  if (heap === undefined || names === undefined) return []
  const kind = { type: 5, idOffset: 4, idLength: 7 } as const
  const found = await readDense(file, heap, names, kind, message.path)
  // The tree has them by hashes of their names.
  return found.map((each) => readLink(file, fieldsOf(file, each))).sort((a, b) => (a.name < b.name ? -1 : 1))
}
