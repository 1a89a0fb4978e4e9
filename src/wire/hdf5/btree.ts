// B-trees of version 1, which list the members of a group or the chunks of a dataset. Levels count down to the leaves.
import type { Cursor } from '../../bytes/index.js'
import { hdf5Codes as codes } from './codes.js'
import type { Hdf5File } from './file.js'

export interface TreeKind<Key> {
  readonly type: 0 | 1
  readonly keySize: number
  readKey(cursor: Cursor): Key
}

/** Calls `visit` for each entry of the leaves, in order, with the key in front of it. */
export async function walkTree<Key>(
  file: Hdf5File,
  root: number,
  kind: TreeKind<Key>,
  path: string,
  visit: (key: Key, child: number, offset: number) => Promise<void> | void,
): Promise<void> {
  const seen = new Set<number>()
  const walk = async (address: number, level: number | undefined): Promise<void> => {
    const { report, base, offsetSize } = file
    const details = { offset: base + address, path }
    if (seen.has(address)) report.fail(codes.structure, { ...details, message: 'a tree contains a node twice' })
    seen.add(address)
    const head = await file.bytes(address, 8, path)
    const count = head[6]! + 256 * head[7]!
    const length = 8 + 2 * offsetSize + count * (kind.keySize + offsetSize) + kind.keySize
    const cursor = await file.cursor(address, length, path)
    file.signature(cursor, 'TREE')
    const type = cursor.u8('type')
    const found = cursor.u8('level')
    cursor.u16('count')
    if (type !== kind.type) report.fail(codes.structure, { ...details, message: `a tree of type ${type}` })
    if (level !== undefined && found !== level)
      report.fail(codes.structure, { ...details, message: `a node of level ${found} where ${level} was expected` })
    file.address(cursor, 'left')
    file.address(cursor, 'right')
    for (let i = 0; i < count; i++) {
      const { offset } = cursor
      cursor.enter('entries', i)
      const key = kind.readKey(cursor)
      const child = file.neededAddress(cursor, 'child')
      cursor.leave(2)
      if (found > 0) await walk(child, found - 1)
      else await visit(key, child, offset)
    }
    cursor.raw(kind.keySize, 'last_key')
  }
  await walk(root, undefined)
}
