// The uuid of a file: random, or made from the content, so that the same content has the same uuid.
import { encodeUtf8 } from '../../../bytes/index.js'
import { createHasher } from '../../../digest/index.js'
import { type Chunk, sameBytes } from '../control/chunk.js'
import { digestSize } from '../structs.js'

type Listed = Pick<Chunk, 'fourcc' | 'name' | 'length' | 'hash'>

/** The control hash covers the uuid, so here it counts as zeros. Marked as a uuid of version 8, whose bits may be chosen freely. */
export async function contentUuid(chunks: Iterable<Listed>): Promise<Uint8Array> {
  const hasher = await createHasher('blake3')
  for (const { fourcc, name, length, hash } of chunks) {
    hasher.update(encodeUtf8(`${fourcc} ${length} ${name}\0`))
    hasher.update(fourcc === 'IHSH' ? new Uint8Array(digestSize) : hash)
  }
  return markUuid(hasher.digest().slice(0, 16), 8)
}

/** The uuid of an edited file: one that was made from the content is made again, any other stays. */
export async function uuidAfter(
  uuid: Uint8Array,
  before: readonly Listed[],
  after: readonly Listed[],
): Promise<Uint8Array> {
  return sameBytes(uuid, await contentUuid(before)) ? contentUuid(after) : uuid
}

export const randomUuid = (): Uint8Array => markUuid(crypto.getRandomValues(new Uint8Array(16)), 4)

function markUuid(uuid: Uint8Array, version: number): Uint8Array {
  uuid[6] = (uuid[6]! % 16) + version * 16
  uuid[8] = (uuid[8]! % 64) + 128
  return uuid
}
