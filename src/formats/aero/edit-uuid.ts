// A uuid that was made from the content must be made again when the content changes; any other stays what it is.
import { encodeUtf8 } from '../../bytes/index.js'
import { createHasher } from '../../digest/index.js'
import { type Chunk, sameBytes } from './chunk.js'
import { digestSize } from './structs.js'

export type Listed = Pick<Chunk, 'fourcc' | 'name' | 'length' | 'hash'>

/** The uuid for the new content of a file whose old content is known. */
export async function uuidAfter(
  uuid: Uint8Array,
  before: readonly Listed[],
  after: readonly Listed[],
): Promise<Uint8Array> {
  return sameBytes(uuid, await contentUuid(before)) ? contentUuid(after) : uuid
}

/** The control hash covers the uuid, so here it counts as zeros. */
async function contentUuid(chunks: readonly Listed[]): Promise<Uint8Array> {
  const hasher = await createHasher('blake3')
  for (const { fourcc, name, length, hash } of chunks) {
    hasher.update(encodeUtf8(`${fourcc} ${length} ${name}\0`))
    hasher.update(fourcc === 'IHSH' ? new Uint8Array(digestSize) : hash)
  }
  const uuid = hasher.digest().slice(0, 16)
  uuid[6] = (uuid[6]! % 16) + 8 * 16 // version 8: whoever makes it says what the bits are
  uuid[8] = (uuid[8]! % 64) + 128
  return uuid
}
