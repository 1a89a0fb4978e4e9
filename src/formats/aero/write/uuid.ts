// The id of a file: random, or made from the content, so that the same content has the same one.
import { encodeUtf8 } from '../../../bytes/index.js'
import { createHasher } from '../../../digest/index.js'
import type { Chunk } from '../control/chunk.js'
import { digestSize } from '../structs.js'

export type Listed = Pick<Chunk, 'fourcc' | 'name' | 'length' | 'hash'>

/** The control hash covers the uuid, so here it counts as zeros. Marked as a uuid of version 8, whose bits everybody may choose. */
export async function contentUuid(chunks: Iterable<Listed>): Promise<Uint8Array> {
  const hasher = await createHasher('blake3')
  for (const { fourcc, name, length, hash } of chunks) {
    hasher.update(encodeUtf8(`${fourcc} ${length} ${name}\0`))
    hasher.update(fourcc === 'IHSH' ? new Uint8Array(digestSize) : hash)
  }
  return markUuid(hasher.digest().slice(0, 16), 8)
}

export const randomUuid = (): Uint8Array => markUuid(crypto.getRandomValues(new Uint8Array(16)), 4)

function markUuid(uuid: Uint8Array, version: number): Uint8Array {
  uuid[6] = (uuid[6]! % 16) + version * 16
  uuid[8] = (uuid[8]! % 64) + 128
  return uuid
}
